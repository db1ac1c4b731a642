/**
 * BrokerRegistration: keeps every name server of the list told about this broker.
 *
 * Each name server is on its own: one that is dead, slow or new delays neither
 * the start, nor a send, nor the others.
 *
 * Invariants
 * - A name server that is not known to know us gets the whole table first; only then changes
 *   alone. (A 5.x name server refuses a single topic from a stranger.)
 * - One request at a time per name server; changes meanwhile go with the next one.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { DataVersion } from "../model/data_version.ts";
import type { TopicConfig } from "../model/topic_config.ts";
import {
  addressesOf,
  RegisteredNamesrv as Namesrv,
  RETRY_MS,
} from "./registered_namesrv.ts";
import { withBrokerPermission } from "./broker_permission.ts";
import {
  type BrokerIdentity,
  type BrokerOuterAPI,
  NAMESRV_PATIENCE_MS,
  type RegisterBrokerResult,
  registrationBody,
} from "./broker_outer_api.ts";

/** Keys of broker.conf that registration reads. */
export interface BrokerRegistrationOptions {
  readonly namesrvAddr: string;
  readonly brokerPermission: number;
  readonly registerNameServerPeriod: number;
  readonly registerBrokerTimeoutMills: number;
  readonly forceRegister: boolean;
  readonly brokerHeartbeatInterval: number;
}

/** What registration needs. */
export interface BrokerRegistrationPorts {
  readonly outerAPI: Pick<
    BrokerOuterAPI,
    | "registerBroker"
    | "unregisterBroker"
    | "sendHeartbeat"
    | "isDataVersionChanged"
  >;
  readonly topics: {
    allTopics(): ReadonlyMap<string, TopicConfig>;
    readonly dataVersion: DataVersion;
    updateOrderTopics(names: Iterable<string>): void;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether another broker is the master now. */
  readonly fence: {
    readonly isOpen: boolean;
    /** False when the name server, which does not know us, must not be told of this broker. */
    confirm(namesrvAddr: string): Promise<boolean>;
    isShownAt(namesrvAddr: string): Promise<boolean>;
  };
  /** A name server has taken a registration. */
  onRegistered(result: RegisterBrokerResult): void;
}

/** What one name server knows of us. */
export interface NamesrvState {
  readonly address: string;
  readonly isRegistered: boolean;
  /** Wall clock, milliseconds; null before the first success. */
  readonly lastRegisteredMs: number | null;
  /** One sentence; null while all is well. */
  readonly lastError: string | null;
}

const PERIOD_MIN_MS = 10_000;
const PERIOD_MAX_MS = 60_000;
const UNREGISTER_TIMEOUT_MS = 1_000;
/** How long a topic change waits for name servers before its caller goes on. */
const CHANGES_WAIT_MS = 1_000;
/** Changed topics above which the whole table is simpler. */
const INCREMENT_TOPICS_MAX = 100;

/** A bigger table is encoded anew each time rather than kept. */
const KEPT_BODY_BYTES_MAX = 1_048_576;

/** Registers with all name servers. */
export class BrokerRegistration {
  readonly #ports: BrokerRegistrationPorts;
  readonly #identity: BrokerIdentity;
  #options: BrokerRegistrationOptions;
  #namesrvs = new Map<string, Namesrv>();
  #isRunning = false;
  #body: { dataVersion: DataVersion; perm: number; bytes: Uint8Array } | null =
    null;

  constructor(
    ports: BrokerRegistrationPorts,
    identity: BrokerIdentity,
    options: BrokerRegistrationOptions,
  ) {
    this.#ports = ports;
    this.#identity = identity;
    this.#options = options;
    this.reconfigure(options);
  }

  /** Takes a new list or new periods; added name servers are told at the next tick. */
  reconfigure(options: BrokerRegistrationOptions): void {
    const addresses = addressesOf(options.namesrvAddr);
    const isPermChanged =
      options.brokerPermission !== this.#options.brokerPermission;
    this.#options = options;
    const before = this.#namesrvs;
    this.#namesrvs = new Map(
      addresses.map((it) => [it, before.get(it) ?? new Namesrv(it)]),
    );
    for (const [address, namesrv] of before) {
      if (!this.#namesrvs.has(address) && namesrv.isRegistered) {
        this.#unregister(namesrv);
      }
    }
    if (isPermChanged) this.onTopicsChanged(undefined);
  }

  /** The list in force, without doubles. */
  get namesrvAddrs(): readonly string[] {
    return [...this.#namesrvs.keys()];
  }

  /** One entry per name server of the list. */
  states(): NamesrvState[] {
    return [...this.#namesrvs.values()].map((it) => ({
      address: it.address,
      isRegistered: it.isRegistered,
      lastRegisteredMs: it.lastRegisteredMs,
      lastError: it.lastError,
    }));
  }

  /**
   * Resolves when every living name server shows this broker, or after a second. Those that were
   * silent a moment ago are told as well, and not waited for.
   */
  async start(silent: readonly string[] = []): Promise<void> {
    this.#isRunning = true;
    this.tick();
    const all = [...this.#namesrvs.values()];
    await this.#settledOrLate(all.filter((it) => !silent.includes(it.address)));
  }

  /** One topic, or undefined for more than one. */
  onTopicsChanged(topic: string | undefined): void {
    for (const it of this.#namesrvs.values()) {
      // A stranger gets the whole table anyway, unless it is on its way already.
      const isTold = it.isRegistered || it.running !== undefined;
      if (!isTold || it.changes === null) continue;
      if (topic === undefined || it.changes.size >= INCREMENT_TOPICS_MAX) {
        it.changes = null;
      } else it.changes.add(topic);
    }
  }

  /** Registers anew with those that know us: a slave asks so where its master is now. */
  registerAgain(): void {
    for (const it of this.#namesrvs.values()) {
      if (it.isRegistered && it.running === undefined) it.changes = null;
    }
  }

  /** The connection to a name server ended: whether it still knows us is unknown. */
  onConnectionClosed(address: string): void {
    const namesrv = this.#namesrvs.get(address);
    if (namesrv === undefined || !namesrv.isRegistered) return;
    namesrv.isRegistered = false;
    namesrv.retryMs = 0;
    namesrv.lastError = "the connection was closed";
  }

  /** Does what is due. Time is monotonic: a clock that is set back must not silence us. */
  tick(): void {
    if (!this.#isRunning) return;
    const nowMs = this.#ports.clock.monotonicMs();
    for (const it of this.#namesrvs.values()) {
      if (it.running === undefined) this.#next(it, nowMs);
    }
  }

  /** Tells changes now; resolves when every living name server knows them, or after a second. */
  async registerChanges(): Promise<void> {
    this.tick();
    const known = [...this.#namesrvs.values()].filter((it) => it.isRegistered);
    await this.#settledOrLate(known);
  }

  async #settledOrLate(namesrvs: readonly Namesrv[]): Promise<void> {
    const waiting = namesrvs.filter((it) => it.running !== undefined);
    if (waiting.length === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#ports.clock.after(CHANGES_WAIT_MS, resolve);
    const settled = waiting.map((it) => this.#settled(it));
    await Promise.race([promise, Promise.all(settled)]);
    timer.cancel();
  }

  /**
   * Another broker is the master: tells nobody any more. Only those that show this broker hear of
   * it, for a 4.x name server removes whoever has the id.
   */
  async withdraw(reason: string): Promise<void> {
    this.#isRunning = false;
    await Promise.all([...this.#namesrvs.values()].map(async (it) => {
      it.lastError = reason;
      if (await this.#ports.fence.isShownAt(it.address)) {
        await this.#unregister(it);
      }
      it.isRegistered = false;
    }));
  }

  /** Leaves all name servers, within a second or so. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    const leaving = [...this.#namesrvs.values()]
      .filter((it) => it.isRegistered)
      .map((it) => this.#unregister(it));
    await Promise.all(leaving);
  }

  async #settled(namesrv: Namesrv): Promise<void> {
    while (namesrv.running !== undefined) {
      await namesrv.running;
      if (namesrv.isRegistered && namesrv.running === undefined) {
        this.#next(namesrv, this.#ports.clock.monotonicMs());
      }
    }
  }

  /** Starts the one request that is due, if any. */
  #next(namesrv: Namesrv, nowMs: number): void {
    if (!this.#isRunning || !this.#ports.fence.isOpen) return;
    if (!namesrv.isRegistered) {
      if (nowMs >= namesrv.retryMs) this.#run(namesrv, this.#registerAll);
    } else if (namesrv.changes === null) {
      this.#run(namesrv, this.#registerAll);
    } else if (namesrv.changes.size > 0) {
      this.#run(namesrv, this.#registerIncrement);
    } else if (nowMs >= namesrv.periodMs) {
      this.#run(
        namesrv,
        this.#options.forceRegister ? this.#registerAll : this.#registerIfOld,
      );
    } else if (namesrv.takesHeartbeats && nowMs >= namesrv.heartbeatMs) {
      this.#run(namesrv, this.#heartbeat);
    }
  }

  #run(namesrv: Namesrv, task: (namesrv: Namesrv) => Promise<void>): void {
    const startedMs = this.#ports.clock.monotonicMs();
    namesrv.running = task(namesrv).catch((error: unknown) =>
      this.#onFailure(namesrv, error, startedMs)
    ).finally(() => {
      namesrv.running = undefined;
    });
  }

  readonly #registerAll = async (namesrv: Namesrv): Promise<void> => {
    const { fence } = this.#ports;
    if (!namesrv.isRegistered && !await fence.confirm(namesrv.address)) return;
    namesrv.changes = new Set();
    await this.#register(namesrv, this.#fullBody());
    const nowMs = this.#ports.clock.monotonicMs();
    if (!namesrv.isRegistered) {
      this.#ports.logger.info(
        `Registered with name server ${namesrv.address} as ` +
          this.#identity.brokerAddr,
        { namesrv: namesrv.address },
      );
      namesrv.takesHeartbeats = true;
      namesrv.heartbeatMs = nowMs + this.#options.brokerHeartbeatInterval;
    }
    namesrv.isRegistered = true;
    namesrv.lastError = null;
    namesrv.periodMs = nowMs +
      Math.min(
        Math.max(this.#options.registerNameServerPeriod, PERIOD_MIN_MS),
        PERIOD_MAX_MS,
      );
  };

  readonly #registerIncrement = async (namesrv: Namesrv): Promise<void> => {
    const all = this.#ports.topics.allTopics();
    const changed = new Map<string, TopicConfig>();
    for (const name of namesrv.changes ?? []) {
      const topicConfig = all.get(name);
      if (topicConfig !== undefined) changed.set(name, topicConfig);
    }
    namesrv.changes = new Set();
    if (changed.size === 0) return await this.#registerAll(namesrv);
    await this.#register(
      namesrv,
      registrationBody(
        withBrokerPermission(changed, this.#options.brokerPermission),
        this.#ports.topics.dataVersion,
      ),
    );
  };

  readonly #registerIfOld = async (namesrv: Namesrv): Promise<void> => {
    const isChanged = await this.#ports.outerAPI.isDataVersionChanged(
      namesrv.address,
      this.#identity,
      this.#ports.topics.dataVersion,
      this.#options.registerBrokerTimeoutMills,
    );
    if (isChanged) return await this.#registerAll(namesrv);
    namesrv.periodMs = this.#ports.clock.monotonicMs() +
      this.#options.registerNameServerPeriod;
  };

  readonly #heartbeat = async (namesrv: Namesrv): Promise<void> => {
    namesrv.takesHeartbeats = await this.#ports.outerAPI.sendHeartbeat(
      namesrv.address,
      this.#identity,
      NAMESRV_PATIENCE_MS,
    );
    namesrv.heartbeatMs = this.#ports.clock.monotonicMs() +
      this.#options.brokerHeartbeatInterval;
  };

  async #register(namesrv: Namesrv, body: Uint8Array): Promise<void> {
    const result: RegisterBrokerResult = await this.#ports.outerAPI
      .registerBroker(
        namesrv.address,
        this.#identity,
        body,
        this.#options.registerBrokerTimeoutMills,
      );
    namesrv.lastRegisteredMs = this.#ports.clock.nowMs();
    this.#ports.onRegistered(result);
    if (result.orderTopics.size > 0) {
      this.#ports.topics.updateOrderTopics(result.orderTopics.keys());
    }
  }

  #onFailure(namesrv: Namesrv, error: unknown, startedMs: number): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (namesrv.isRegistered || namesrv.lastError === null) {
      this.#ports.logger.warn(
        `Name server ${namesrv.address} cannot be told about this broker, ` +
          `trying on: ${reason}`,
        { namesrv: namesrv.address },
      );
    }
    namesrv.isRegistered = false;
    namesrv.lastError = reason;
    namesrv.retryMs = startedMs + RETRY_MS;
  }

  async #unregister(namesrv: Namesrv): Promise<void> {
    namesrv.isRegistered = false;
    try {
      await this.#ports.outerAPI.unregisterBroker(
        namesrv.address,
        this.#identity,
        UNREGISTER_TIMEOUT_MS,
      );
    } catch (error) {
      this.#ports.logger.warn(
        `Cannot unregister from name server ${namesrv.address}`,
        { namesrv: namesrv.address, error },
      );
    }
  }

  /** The whole table; a small one is encoded once for all name servers. */
  #fullBody(): Uint8Array {
    const { dataVersion } = this.#ports.topics;
    const perm = this.#options.brokerPermission;
    if (this.#body?.dataVersion === dataVersion && this.#body.perm === perm) {
      return this.#body.bytes;
    }
    const topics = withBrokerPermission(this.#ports.topics.allTopics(), perm);
    const bytes = registrationBody(topics, dataVersion);
    this.#body = bytes.length <= KEPT_BODY_BYTES_MAX
      ? { dataVersion, perm, bytes }
      : null;
    return bytes;
  }
}
