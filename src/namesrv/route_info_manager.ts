/**
 * RouteInfoManager: who is there and who has which topic. Events and `nowMs`
 * in, outcomes and effects out (reference 10).
 *
 * Invariants
 * - A broker name belongs to one cluster at a time.
 * - An address has at most one id of its name, an id at most one address.
 * - A closed connection removes only brokers that still belong to it, so that
 *   one that came back over another connection never vanishes.
 * - Without a living master no queue of a broker name is writable.
 */
import { type DataVersion, isSameVersion } from "../model/data_version.ts";
import { PermName, type TopicConfig } from "../model/topic_config.ts";
import { TopicNames } from "../model/topic_names.ts";
import type { RegisterBrokerBody } from "../protocol/body/register_broker_body.ts";
import type {
  QueueData,
  TopicRouteData,
} from "../protocol/body/topic_route_data.ts";
import type { BrokerIdentityHeader } from "../protocol/header/broker_identity_header.ts";
import type {
  RegisterBrokerRequestHeader,
  RegisterBrokerResponseHeader,
} from "../protocol/header/register_broker_header.ts";
import { type BrokerGroup, BrokerGroupTable } from "./broker_group_table.ts";
import { type BrokerLiveInfo, BrokerLiveTable } from "./broker_live_table.ts";
import { DisplacedBrokers } from "./displaced_brokers.ts";
import {
  minBrokerIdNotices,
  type RegisterBrokerResult,
  type RouteEffect,
} from "./route_effect.ts";
import {
  describe,
  registrationRefusal,
  type RouteInfoOptions,
} from "./registration_rules.ts";
import {
  MASTER_ID,
  minBrokerIdOf,
  pickupTopicRouteData,
} from "./route_pickup.ts";
import { TopicQueueTable } from "./topic_queue_table.ts";

/** How long silence is taken for life when a broker names no time. */
export const DEFAULT_BROKER_EXPIRED_TIME_MS = 120_000;

/** Routes of one name server. */
export class RouteInfoManager {
  #options: RouteInfoOptions;
  readonly #groups = new BrokerGroupTable();
  readonly #live = new BrokerLiveTable();
  readonly #displaced = new DisplacedBrokers();
  readonly #filterServers = new Map<string, readonly string[]>();
  readonly #topics = new TopicQueueTable();
  #hasEverRegistered = false;

  constructor(options: RouteInfoOptions) {
    this.#options = options;
  }

  reconfigure(options: RouteInfoOptions): void {
    this.#options = options;
  }

  /** False until the first broker came: routes are unknown, not absent. */
  get hasEverRegistered(): boolean {
    return this.#hasEverRegistered;
  }

  get liveBrokerCount(): number {
    return this.#live.size;
  }

  get topics(): TopicQueueTable {
    return this.#topics;
  }

  get brokers(): BrokerGroupTable {
    return this.#groups;
  }

  liveInfo(
    clusterName: string,
    brokerAddr: string,
  ): BrokerLiveInfo | undefined {
    return this.#live.get(clusterName, brokerAddr);
  }

  /** A broker says what it is and has (reference 10.3). */
  registerBroker(
    header: RegisterBrokerRequestHeader,
    body: RegisterBrokerBody,
    connectionId: number,
    nowMs: number,
  ): RegisterBrokerResult {
    const refusal = registrationRefusal(header, body, connectionId, {
      options: this.#options,
      groups: this.#groups,
      live: this.#live,
      displaced: this.#displaced,
      topics: this.#topics,
    });
    if (refusal?.kind === "refused") {
      return { kind: "refused", reason: refusal.reason };
    }
    const { brokerAddr, brokerId } = header;
    const old = this.#live.get(header.clusterName, brokerAddr);
    if (refusal !== undefined) {
      const { reason } = refusal;
      const effects = this.#removeIfAny(old, reason);
      return { kind: "ignored", reason, effects };
    }
    const isRenamed = old !== undefined && old.brokerName !== header.brokerName;
    const effects = isRenamed
      ? this.#remove(old, `its address is ${describe(header)}`)
      : [];
    const group = this.#groups.ensure(header.brokerName, header.clusterName);
    group.enableActingMaster = header.enableActingMaster ?? false;
    group.zoneName = header.zoneName ?? null;
    const minBefore = minBrokerIdOf(group.brokerAddrs);
    const isFirst = this.#takeId(group, header, effects);
    const { dataVersion, topicConfigTable } = body.topicConfigSerializeWrapper;
    const isChanged = isFirst || old === undefined || isRenamed ||
      old.brokerId !== brokerId || !isSameVersion(old.dataVersion, dataVersion);
    this.#takeTopics(group, brokerId, topicConfigTable, isChanged);
    this.#live.set(liveInfoOf(header, dataVersion, connectionId, nowMs));
    this.#hasEverRegistered = true;
    if (body.filterServerList.length > 0) {
      this.#filterServers.set(brokerAddr, body.filterServerList);
    } else this.#filterServers.delete(brokerAddr);
    if (isFirst) effects.push(info(`${describe(header)} registered`));
    if (minBefore !== undefined && brokerId < minBefore) {
      effects.push(...this.#notices(group, undefined, header.haServerAddr));
    }
    return {
      kind: "registered",
      header: this.#masterOf(group, brokerId),
      effects,
    };
  }

  /** A broker says good-bye; ignored unless the address still holds that id. */
  unregisterBroker(header: BrokerIdentityHeader): readonly RouteEffect[] {
    const live = this.#live.get(header.clusterName, header.brokerAddr);
    const isSame = live !== undefined &&
      live.brokerName === header.brokerName &&
      (header.brokerId === undefined || live.brokerId === header.brokerId);
    return isSame ? this.#remove(live, "it unregistered") : [];
  }

  /** A broker's heartbeat; the entry moves to the connection it came over. */
  onHeartbeat(
    header: BrokerIdentityHeader,
    connectionId: number,
    nowMs: number,
  ): void {
    const live = this.#live.get(header.clusterName, header.brokerAddr);
    if (live === undefined || live.brokerName !== header.brokerName) return;
    this.#live.set({ ...live, connectionId, lastUpdateMs: nowMs });
  }

  /**
   * The version the broker registered last. Whoever knows it is that broker, and lives; another
   * broker may ask about a rival, and speaks only for itself.
   */
  queryDataVersion(
    header: BrokerIdentityHeader,
    known: DataVersion,
    connectionId: number,
    nowMs: number,
  ): DataVersion | undefined {
    const stored = this.#live.get(header.clusterName, header.brokerAddr)
      ?.dataVersion;
    if (stored !== undefined && isSameVersion(stored, known)) {
      this.onHeartbeat(header, connectionId, nowMs);
    }
    return stored;
  }

  onConnectionClosed(connectionId: number): readonly RouteEffect[] {
    this.#displaced.onConnectionClosed(connectionId);
    return this.#live.ofConnection(connectionId).flatMap((it) =>
      this.#remove(it, "its connection closed")
    );
  }

  /** Removes silent brokers; called every `scanNotActiveBrokerInterval`. */
  scanNotActiveBroker(nowMs: number): readonly RouteEffect[] {
    return this.#live.expired(nowMs).flatMap((it) => [
      ...this.#remove(it, `it was silent for ${nowMs - it.lastUpdateMs} ms`),
      { kind: "closeConnection", connectionId: it.connectionId } as const,
    ]);
  }

  /** REGISTER_TOPIC_IN_NAMESRV; queues of unknown brokers are left out. */
  registerTopic(topic: string, queueDatas: readonly QueueData[]): void {
    for (const queues of queueDatas) {
      if (this.#groups.get(queues.brokerName) === undefined) continue;
      this.#topics.set(topic, queues);
    }
  }

  /** DELETE_TOPIC_IN_NAMESRV, on all brokers or those of one cluster. */
  deleteTopic(topic: string, clusterName: string | undefined): void {
    const names = [...this.#topics.queuesOf(topic)?.keys() ?? []];
    for (const name of names) {
      const isWanted = clusterName === undefined ||
        this.#groups.get(name)?.cluster === clusterName;
      if (isWanted) this.#topics.delete(topic, name);
    }
  }

  /** The topics of a cluster. */
  topicsOfCluster(clusterName: string): string[] {
    const topics = new Set<string>();
    for (const name of this.#groups.brokerNamesOf(clusterName)) {
      for (const topic of this.#topics.topicsOfBroker(name)) topics.add(topic);
    }
    return [...topics];
  }

  /** The route without order configuration; undefined when nobody has the topic. */
  pickupTopicRouteData(topic: string): TopicRouteData | undefined {
    const queues = this.#topics.queuesOf(topic);
    return queues &&
      pickupTopicRouteData(queues, this.#groups, this.#filterServers);
  }

  /** Puts id -> address; true when nobody held the id. */
  #takeId(
    group: BrokerGroup,
    header: RegisterBrokerRequestHeader,
    effects: RouteEffect[],
  ): boolean {
    for (const [id, address] of [...group.brokerAddrs]) {
      if (address !== header.brokerAddr || id === header.brokerId) continue;
      group.brokerAddrs.delete(id); // A slave became master, or back.
      if (id === MASTER_ID) this.#topics.wipeWritePerm(group.brokerName);
    }
    const holderAddr = group.brokerAddrs.get(header.brokerId);
    if (holderAddr !== undefined && holderAddr !== header.brokerAddr) {
      const holder = this.#live.get(group.cluster, holderAddr);
      if (holder !== undefined) {
        this.#live.delete(holder);
        this.#displaced.add(holder, header.brokerAddr);
      }
      this.#filterServers.delete(holderAddr);
      effects.push({
        kind: "log",
        level: "warn",
        message: `${describe(header)} takes the id from ${holderAddr}`,
      });
    }
    group.brokerAddrs.set(header.brokerId, header.brokerAddr);
    return holderAddr === undefined;
  }

  #takeTopics(
    group: BrokerGroup,
    brokerId: number,
    table: ReadonlyMap<string, TopicConfig>,
    isChanged: boolean,
  ): void {
    const isMaster = brokerId === MASTER_ID;
    if (!isMaster && brokerId !== minBrokerIdOf(group.brokerAddrs)) return;
    const { brokerName } = group;
    if (isMaster && isChanged && isFullTable(table)) {
      this.#deleteMissingTopics(brokerName, table);
    }
    for (const [topic, config] of table) {
      if (!isChanged && this.#topics.has(topic, brokerName)) continue;
      this.#topics.set(topic, {
        brokerName,
        readQueueNums: config.readQueueNums,
        writeQueueNums: config.writeQueueNums,
        perm: isMaster ? config.perm : config.perm & ~PermName.WRITE,
        topicSysFlag: config.topicSysFlag,
      });
    }
  }

  #deleteMissingTopics(
    brokerName: string,
    table: ReadonlyMap<string, TopicConfig>,
  ): void {
    if (!this.#options.deleteTopicWithBrokerRegistration) return;
    for (const topic of [...this.#topics.topicsOfBroker(brokerName)]) {
      if (!table.has(topic)) this.#topics.delete(topic, brokerName);
    }
  }

  #masterOf(
    group: BrokerGroup,
    brokerId: number,
  ): RegisterBrokerResponseHeader {
    const masterAddr = brokerId === MASTER_ID
      ? undefined
      : group.brokerAddrs.get(MASTER_ID);
    const master = masterAddr === undefined
      ? undefined
      : this.#live.get(group.cluster, masterAddr);
    return {
      haServerAddr: master?.haServerAddr,
      masterAddr: master?.brokerAddr,
    };
  }

  #removeIfAny(live: BrokerLiveInfo | undefined, why: string): RouteEffect[] {
    return live === undefined ? [] : this.#remove(live, why);
  }

  #remove(live: BrokerLiveInfo, why: string): RouteEffect[] {
    const effects = [info(`${describe(live)} is gone: ${why}`)];
    this.#live.delete(live);
    this.#displaced.onWinnerGone(live);
    this.#filterServers.delete(live.brokerAddr);
    const group = this.#groups.get(live.brokerName);
    if (group?.brokerAddrs.get(live.brokerId) !== live.brokerAddr) {
      return effects;
    }
    const minBefore = minBrokerIdOf(group.brokerAddrs);
    group.brokerAddrs.delete(live.brokerId);
    if (group.brokerAddrs.size === 0) {
      this.#groups.delete(group);
      this.#topics.deleteBroker(group.brokerName);
      return effects;
    }
    if (live.brokerId === MASTER_ID) {
      this.#topics.wipeWritePerm(live.brokerName);
    }
    if (minBefore === live.brokerId && group.enableActingMaster) {
      effects.push(...this.#notices(group, live.brokerAddr, live.haServerAddr));
    }
    return effects;
  }

  #notices(
    group: BrokerGroup,
    offlineBrokerAddr: string | undefined,
    haBrokerAddr: string,
  ): RouteEffect[] {
    return this.#options.notifyMinBrokerIdChanged
      ? minBrokerIdNotices(group, offlineBrokerAddr, haBrokerAddr)
      : [];
  }
}

function liveInfoOf(
  header: RegisterBrokerRequestHeader,
  dataVersion: DataVersion,
  connectionId: number,
  nowMs: number,
): BrokerLiveInfo {
  return {
    clusterName: header.clusterName,
    brokerName: header.brokerName,
    brokerAddr: header.brokerAddr,
    brokerId: header.brokerId,
    haServerAddr: header.haServerAddr,
    dataVersion,
    heartbeatTimeoutMs: header.heartbeatTimeoutMillis ??
      DEFAULT_BROKER_EXPIRED_TIME_MS,
    connectionId,
    lastUpdateMs: nowMs,
  };
}

/** Every broker version creates this topic at start and lets nobody change it. */
function isFullTable(table: ReadonlyMap<string, TopicConfig>): boolean {
  return table.has(TopicNames.RMQ_SYS_SELF_TEST_TOPIC);
}

function info(message: string): RouteEffect {
  return { kind: "log", level: "info", message };
}
