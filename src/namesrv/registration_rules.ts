/** Which registrations a name server does not take (reference 10.3, rules 3 and 4, and limits). */
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
  if (brokerId < 0) return refused(`the broker id ${brokerId} is negative`);
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
