/**
 * BrokerRun: one life of the broker part, from its store's lock to its end. A change of role ends
 * one run and begins the next on the same bound ports (`BrokerController.restart`).
 *
 * Start: open the store, read the role and the tables, let clients in, register. Stop: the same,
 * backwards.
 */
import type { HACoordinator } from "../ha/ha_coordinator.ts";
import type { Timer } from "../io/clock.ts";
import { RemotingClient } from "../remoting/remoting_client.ts";
import type { RemotingServer } from "../remoting/remoting_server.ts";
import type { RequestProcessor } from "../remoting/request_processor.ts";
import { MessageStore } from "../store/message_store.ts";
import type { BrokerAddresses } from "./broker_addresses.ts";
import {
  assembleBroker,
  type BrokerControllerOptions,
  type BrokerPorts,
  type RunningBroker,
} from "./broker_assembly.ts";
import type { BoundPorts, GatedNetwork } from "./broker_ports.ts";
import type { HAMasterWatch } from "./ha_master_watch.ts";
import { watchMaster } from "./ha_master_watch_assembly.ts";
import { HARoleFile, type HARoleRecord } from "./ha_role_file.ts";
import { tellRole, withHARole } from "./ha_role_options.ts";
import { listenToArrivals, tickBroker } from "./running_broker.ts";
import type { RoleChangeBoard } from "./role_change/role_change_board.ts";
import { ShutdownGate } from "./shutdown_gate.ts";

const TICK_INTERVAL_MS = 100;
/** How long a stop waits for slaves to have everything. */
const HA_DRAIN_MS = 2_000;

/** What all runs of a broker share. */
export interface BrokerRunHost {
  readonly ports: BrokerPorts;
  readonly network: GatedNetwork;
  readonly server: RemotingServer;
  readonly table: Map<number, RequestProcessor>;
  readonly bound: BoundPorts;
  readonly addresses: BrokerAddresses;
  /** Changes of role under way in this pair. */
  readonly roleChanges: RoleChangeBoard;
  /** The store of a run to be is opened. */
  onLoading(store: MessageStore): void;
  /** When a run begins, and every 100 ms, after everybody else; `ha` is the run's. */
  onTick(ha: HACoordinator): void;
}

/** The record of a promotion, once the end of the log is known. */
export type PromotionRecord = (maxPhyOffset: number) => HARoleRecord;

/** What a restart changes; at most one of both. */
export interface RestartChanges {
  /** Written before the store is worked on: whatever happens then, the next start has this role. */
  readonly haRole?: HARoleRecord;
  /** Made once recovery has found the end of the log, and written before anything is accepted. */
  readonly promotion?: PromotionRecord;
}

/** A started broker. */
export class BrokerRun {
  readonly #host: BrokerRunHost;
  readonly #gate: ShutdownGate;
  readonly #client: RemotingClient;
  readonly #haRoleFile: HARoleFile;
  #haRole: HARoleRecord | null;
  #timer: Timer | null = null;
  #isOpen = false;
  #isJustPromoted = false;
  /** What the followed master said of itself. */
  readonly masterWatch: HAMasterWatch;
  /** Parts by name, and the options in force. */
  running: RunningBroker;

  /**
   * `options` are resolved, the role in them is the configured one. Rejects with
   * `StoreStartError`, `FileError` or `BrokerStartError`; nothing of it stays open then.
   */
  static async start(
    host: BrokerRunHost,
    configured: BrokerControllerOptions,
    changes: RestartChanges,
  ): Promise<BrokerRun> {
    const { clientTls, clock, fileSystem, logger, network } = host.ports;
    const client = new RemotingClient(
      { network, clock, logger: logger.child("remoting"), clientTls },
      configured.remotingClient,
    );
    const haRoleFile = new HARoleFile(
      fileSystem,
      configured.broker.storePathRootDir,
      logger.child("ha"),
    );
    let haRole = await haRoleFile.load(configured.broker.brokerId);
    let options = withHARole(configured, haRole);
    const store = new MessageStore(host.ports, options.store);
    host.onLoading(store);
    try {
      await store.load();
      const { promotion } = changes;
      if (promotion !== undefined) {
        // Recovery has cut the log to its last whole record: that is what is promoted.
        haRole = promotion(store.maxPhyOffset);
        await haRoleFile.write(haRole);
        options = withHARole(configured, haRole);
        store.reconfigure(options.store);
      }
      if (haRole !== null) tellRole(host.ports, configured, haRole);
      return await BrokerRun.#open(host, options, {
        store,
        client,
        haRoleFile,
        haRole,
        isRoleNew: promotion !== undefined || changes.haRole !== undefined,
      });
    } catch (error) {
      await client.close();
      await store.shutdown();
      throw error;
    }
  }

  static async #open(
    host: BrokerRunHost,
    options: BrokerControllerOptions,
    opened: {
      readonly store: MessageStore;
      readonly client: RemotingClient;
      readonly haRoleFile: HARoleFile;
      readonly haRole: HARoleRecord | null;
      readonly isRoleNew: boolean;
    },
  ): Promise<BrokerRun> {
    const { isRoleNew, store } = opened;
    const run = new BrokerRun(host, options, opened);
    run.#isJustPromoted = opened.isRoleNew && run.#haRole?.role !== "SLAVE";
    if (isRoleNew || run.running.ha.role !== "SLAVE") run.#lowerToEnds();
    await run.running.parts.dropDeletedTopics();
    await store.start();
    if (opened.haRole !== null && options.broker.brokerRole !== "SLAVE") {
      // What a slave had when it was promoted is as confirmed as it gets.
      const { promotedAtOffset } = opened.haRole;
      if (promotedAtOffset > store.replicatedOffset) {
        store.replicatedOffset = promotedAtOffset;
      }
    }
    run.#letIn(options);
    return run;
  }

  private constructor(
    host: BrokerRunHost,
    options: BrokerControllerOptions,
    { client, haRole, haRoleFile, store }: {
      readonly store: MessageStore;
      readonly client: RemotingClient;
      readonly haRoleFile: HARoleFile;
      readonly haRole: HARoleRecord | null;
    },
  ) {
    this.#host = host;
    this.#gate = new ShutdownGate();
    this.#client = client;
    this.#haRoleFile = haRoleFile;
    this.#haRole = haRole;
    this.running = assembleBroker(host.ports, options, {
      store,
      client,
      gate: this.#gate,
      bound: host.bound,
      addresses: host.addresses,
      haRoleFile,
      requests: host.server.counters.requests,
      roleChanges: host.roleChanges,
      haRole: () => this.#haRole,
    });
    this.masterWatch = watchMaster(
      host.ports.clock,
      client,
      () => this.running,
    );
    client.onClosed = (address) => {
      this.running.registration.onConnectionClosed(address);
      this.running.metadata.onClientClosed(address);
    };
  }

  /** Takes what may change live at once; resolves when haRole.json holds a changed role. */
  async reconfigure(given: BrokerControllerOptions): Promise<void> {
    const role = given.broker.brokerRole;
    const isSwitched = this.#haRole !== null && this.#haRole.role !== role &&
      this.#haRole.role !== "SLAVE" && role !== "SLAVE";
    if (isSwitched) this.#haRole = { ...this.#haRole!, role };
    this.#reconfigure(given);
    if (isSwitched) await this.#haRoleFile.write(this.#haRole!);
  }

  #reconfigure(given: BrokerControllerOptions): void {
    const { running } = this;
    const before = running.options.broker;
    const options = withHARole(given, this.#haRole);
    const { broker, ha, store } = options;
    this.running = { ...running, options };
    running.parts.messageStore.reconfigure(store);
    running.parts.reconfigure(broker);
    running.metadata.reconfigure(broker);
    running.processors.reconfigure(broker, store);
    running.pop.reconfigure(broker);
    running.registration.reconfigure(broker);
    running.ha.reconfigure(ha);
    running.schedule.reconfigure(broker);
    if (broker.brokerRole !== "SLAVE") running.ha.switchRole(broker.brokerRole);
    if (before.brokerPermission !== broker.brokerPermission) {
      // Name servers look at topics only when their version is another one.
      running.parts.topicConfigManager.updateDataVersion();
    }
  }

  /**
   * What the log has lost, by a change of role or by a power cut, groups must not have behind
   * them: they would skip the messages that take the free offsets.
   */
  #lowerToEnds(): void {
    const { consumerOffsetManager } = this.running.parts;
    const lowered = consumerOffsetManager.lowerToEnds();
    if (lowered === 0) return;
    this.#host.ports.logger.child("metadata").warn(
      `Positions of ${lowered} groups were beyond the end of their queues, and are at the end now`,
    );
  }

  /** What haRole.json holds; null: the configuration decides the role. */
  get haRole(): HARoleRecord | null {
    return this.#haRole;
  }

  /** Asks other brokers. */
  get client(): RemotingClient {
    return this.#client;
  }

  get ports(): BrokerPorts {
    return this.#host.ports;
  }

  /** Nothing changes here between the two: messages, topics, groups, positions. */
  holdChanges(): void {
    this.#gate.hold();
    this.running.schedule.hold();
  }

  releaseChanges(): void {
    this.#gate.release();
    this.running.schedule.release();
  }

  /** Refuses messages from now on. */
  get isStopping(): boolean {
    return this.#gate.isClosed;
  }

  /** True once it is known whether messages may be taken, until the stop. */
  get isReady(): boolean {
    return this.#isOpen && !this.isStopping;
  }

  /** Asks whether another broker was promoted, 2 s at most, and only then registers. */
  async open(): Promise<void> {
    const { fence, registration } = this.running;
    await fence.start(this.#isJustPromoted);
    this.#isOpen = true;
    if (this.isStopping || fence.fencedReason !== null) return;
    await registration.start(fence.silent);
  }

  /** Replaces haRole.json, durably. Rejects with `FileError`. */
  async writeHARole(record: HARoleRecord): Promise<void> {
    await this.#haRoleFile.write(record);
    this.#haRole = record;
  }

  /**
   * Refuses new work, drains, persists, leaves the name servers. `closeConnections` ends those
   * of the remoting server. Within 10 s.
   */
  async stop(closeConnections: () => Promise<void>): Promise<void> {
    this.#gate.close();
    const {
      fence,
      ha,
      metadata,
      parts,
      pop,
      processors,
      registration,
      schedule,
    } = this.running;
    schedule.stop();
    const popped = pop.stop();
    parts.pullRequestHoldService.wakeAll();
    metadata.stop();
    const { logger } = this.#host.ports;
    const learned = fence.stop().catch((error: unknown) =>
      logger.error("Cannot write haPeers.json at shutdown", { error })
    );
    // Time-outs need ticks until the last request is answered.
    await Promise.all([registration.stop(), closeConnections()]);
    await processors.transactions.stop();
    await popped;
    // After the last put was answered: it may have waited for a slave.
    await ha.stop(HA_DRAIN_MS);
    this.#timer?.cancel();
    this.#timer = null;
    await this.#client.close();
    await learned;
    await schedule.persist();
    await parts.persist().catch((error: unknown) =>
      logger.error("Cannot write all tables at shutdown", { error })
    );
    await parts.messageStore.shutdown();
  }

  /** Everything is in place: lets clients in, starts the clock. */
  #letIn(options: BrokerControllerOptions): void {
    const { network, onTick, ports, server, table } = this.#host;
    const {
      ha,
      identity,
      metadata,
      neighbours,
      parts,
      processors,
      registration,
    } = this.running;
    const { topicConfigManager } = parts;
    table.clear();
    processors.fill(table);
    ports.guard?.wrap(table, {
      ...identity,
      isSlave: () => ha.role === "SLAVE",
    });
    listenToArrivals(parts, metadata, this.running.schedule.timers);
    topicConfigManager.onChanged = (topic) => {
      registration.onTopicsChanged(topic?.topicName);
      // At once, but together with the other changes of this turn.
      Promise.resolve().then(() => registration.tick());
    };
    server.resume();
    network.open();
    onTick(ha);
    ha.start(this.#haRole?.lastMasterAddress);
    metadata.start(identity, options.broker.namesrvAddr);
    neighbours.start();
    this.#timer = ports.clock.every(TICK_INTERVAL_MS, () => this.#tick());
  }

  #tick(): void {
    const { onTick, ports, server } = this.#host;
    const nowMs = ports.clock.nowMs();
    ports.guard?.tick();
    tickBroker(this.running, this.masterWatch, ports.clock);
    server.tick(nowMs);
    this.#client.tick(nowMs);
    onTick(this.running.ha);
  }
}
