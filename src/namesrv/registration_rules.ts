/** Which registrations a name server does not take (reference 10.3, rules 3 and 4, and limits). */
import { shown } from "../base/shown.ts";
import type { TopicConfig } from "../model/topic_config.ts";
import type { RegisterBrokerBody } from "../protocol/body/register_broker_body.ts";
import type { RegisterBrokerRequestHeader } from "../protocol/header/register_broker_header.ts";
import type { BrokerGroupTable } from "./broker_group_table.ts";
import type { BrokerLiveTable } from "./broker_live_table.ts";
import type { DisplacedBrokers } from "./displaced_brokers.ts";
import type { TopicQueueTable } from "./topic_queue_table.ts";

/** The part of `NamesrvOptions` that decides about routes. */
export interface RouteInfoOptions {
  readonly deleteTopicWithBrokerRegistration: boolean;
  readonly notifyMinBrokerIdChanged: boolean;
  readonly registeredBrokersMax: number;
  readonly topicsMax: number;
}

/** The tables the rules look at. */
export interface RegistrationTables {
  readonly options: RouteInfoOptions;
  readonly groups: BrokerGroupTable;
  readonly live: BrokerLiveTable;
  readonly displaced: DisplacedBrokers;
  readonly topics: TopicQueueTable;
}

/** `refused` is answered with code 1, `ignored` like success. */
export interface Refusal {
  readonly kind: "refused" | "ignored";
  readonly reason: string;
}

/** All bits of PermName. */
const PERM_MAX = 15;
const TEXT_LENGTH_MAX = 255;

/** Why a registration is not taken, or undefined. Changes nothing. */
export function registrationRefusal(
  header: RegisterBrokerRequestHeader,
  body: RegisterBrokerBody,
  connectionId: number,
  tables: RegistrationTables,
): Refusal | undefined {
  const { clusterName, brokerName, brokerAddr, brokerId } = header;
  const { dataVersion, topicConfigTable } = body.topicConfigSerializeWrapper;
  for (const text of [clusterName, brokerName, brokerAddr]) {
    if (text.trim() === "" || text.length > TEXT_LENGTH_MAX) {
      return refused("a cluster, broker name or address is blank or too long");
    }
  }
  if (!isAddress(brokerAddr)) {
    return refused(
      `brokerAddr "${
        shown(brokerAddr)
      }" is no host:port that clients could connect to`,
    );
  }
  if (brokerId < 0) return refused(`the broker id ${brokerId} is negative`);
  const odd = refusalOfTopics(topicConfigTable);
  if (odd !== undefined) return odd;
  const group = tables.groups.get(brokerName);
  if (group !== undefined && group.cluster !== clusterName) {
    return refused(
      `broker name ${brokerName} is in use in cluster ${group.cluster}`,
    );
  }
  const taken = refusalOfHeldId(
    header,
    dataVersion.stateVersion,
    connectionId,
    tables,
  );
  if (taken !== undefined) return taken;
  const isIdKnown = group?.brokerAddrs.has(brokerId) ?? false;
  if (topicConfigTable.size === 1 && !isIdKnown) {
    return refused(
      `${describe(header)} registers one topic before its full table`,
    );
  }
  return refusalOfLimits(header, topicConfigTable, tables);
}

/** A host, with Java's IPv6 without brackets, and a port. */
function isAddress(text: string): boolean {
  const port = Number(/^[^\s;]+:(\d{1,5})$/.exec(text)?.[1] ?? 0);
  return port > 0 && port <= 65_535;
}

/** What no client could use, and no broker has. */
function refusalOfTopics(
  table: ReadonlyMap<string, TopicConfig>,
): Refusal | undefined {
  for (const [name, { perm, readQueueNums, writeQueueNums }] of table) {
    if (name.trim() === "") return refused("a topic has a blank name");
    if (readQueueNums < 0 || writeQueueNums < 0) {
      return refused(
        `topic ${shown(name)} has ${readQueueNums} queues to read and ` +
          `${writeQueueNums} to write; neither may be negative`,
      );
    }
    if (perm < 0 || perm > PERM_MAX) {
      return refused(
        `topic ${shown(name)} has perm ${perm}; it is from 0 to ${PERM_MAX}`,
      );
    }
  }
  return undefined;
}

/** Another address holds the id: a newer epoch keeps it, and so does one that came later. */
function refusalOfHeldId(
  header: RegisterBrokerRequestHeader,
  stateVersion: number,
  connectionId: number,
  tables: RegistrationTables,
): Refusal | undefined {
  const { clusterName, brokerName, brokerAddr, brokerId } = header;
  const holderAddr = tables.groups.get(brokerName)?.brokerAddrs.get(brokerId);
  if (holderAddr === undefined || holderAddr === brokerAddr) return undefined;
  const holder = tables.live.get(clusterName, holderAddr);
  if (holder === undefined) return undefined;
  const reason =
    `broker id ${brokerId} of ${brokerName} is held by ${holderAddr}`;
  const newer = holder.dataVersion.stateVersion - stateVersion;
  if (newer > 0) {
    return { kind: "ignored", reason: `${reason} with a newer epoch` };
  }
  if (newer < 0 || !tables.displaced.has(header, connectionId, holder)) {
    return undefined;
  }
  return refused(`${reason}, which registered later`);
}

function refusalOfLimits(
  header: RegisterBrokerRequestHeader,
  table: ReadonlyMap<string, TopicConfig>,
  { live, topics, options }: RegistrationTables,
): Refusal | undefined {
  const isNew = live.get(header.clusterName, header.brokerAddr) === undefined;
  if (isNew && live.size >= options.registeredBrokersMax) {
    return refused(
      `${live.size} brokers are registered, which is registeredBrokersMax`,
    );
  }
  let count = topics.topicCount;
  if (count + table.size <= options.topicsMax) return undefined;
  for (const topic of table.keys()) {
    if (topics.queuesOf(topic) === undefined) count++;
  }
  return count > options.topicsMax
    ? refused(`the route would hold ${count} topics, more than topicsMax`)
    : undefined;
}

/** How log lines and remarks name a broker. */
export function describe(
  broker: { brokerName: string; brokerId: number; brokerAddr: string },
): string {
  return `broker ${broker.brokerName} id ${broker.brokerId} at ` +
    broker.brokerAddr;
}

function refused(reason: string): Refusal {
  return { kind: "refused", reason };
}
