/** HANode: one broker of a simulated pair: its host, its disk, and its lives one after the other. */
import { HAReseed, type HAReseedBroker } from "../../src/broker/ha_reseed.ts";
import {
  HARoleFile,
  type HARoleRecord,
} from "../../src/broker/ha_role_file.ts";
import type { HARole } from "../../src/ha/ha_coordinator.ts";
import type { HAOptions } from "../../src/ha/ha_options.ts";
import { hostOf } from "../../src/ha/ha_strangers.ts";
import type { MasterProbe } from "../../src/ha/master_probe.ts";
import type { Clock } from "../../src/io/clock.ts";
import type { Connection, ConnectionEvents } from "../../src/io/network.ts";
import type { MessageExtBrokerInner } from "../../src/model/message_ext.ts";
import { MessageStore } from "../../src/store/message_store.ts";
import type { PutMessageResult } from "../../src/store/put_message_result.ts";
import type { ReplicaLog } from "../../src/store/replica_log.ts";
import type { MessageStoreOptions } from "../../src/store/store_options.ts";
import { assembleLife, type HALife, networkOf } from "./ha_life.ts";
import { HALifeClock } from "./ha_life_clock.ts";
import { HA_PORT, REMOTING_PORT } from "./ha_remoting.ts";
import type { SimClock } from "./sim_clock.ts";
import { SimFileSystem } from "./sim_file_system.ts";
import { SimLogger } from "./sim_logger.ts";
import type { SimNetwork } from "./sim_network.ts";
import type { SimRandom } from "./sim_random.ts";

const TICK_MS = 100;
/** How long a stop waits for slaves to have everything, as BrokerRun does. */
const DRAIN_MS = 2_000;

/** What both nodes live in. */
export interface HAWorld {
  readonly clock: SimClock;
  readonly random: SimRandom;
  readonly network: SimNetwork;
  /** By host; every node adds itself. */
  readonly nodes: Map<string, HANode>;
}

/** How a node is built, and where a test reaches in. */
export interface HANodeOptions {
  readonly host: string;
  readonly store: MessageStoreOptions;
  readonly ha: HAOptions;
  /** Host of the master that the configuration names; null on the master. */
  readonly master: string | null;
  bootstrap(): "last" | "min";
  /** Restarts with `between`, for re-seeding; absent: nothing more than that. */
  onSurgery?(between: () => Promise<void>): Promise<void>;
  wrapProbe?(probe: MasterProbe): MasterProbe;
  /** What the slave's shell gets as its log. */
  wrapLog?(log: ReplicaLog, clock: Clock): ReplicaLog;
  /** A connection as the process sees it. */
  wrapEvents?(events: ConnectionEvents, end: () => void): ConnectionEvents;
  /** A connection as the process writes to it. */
  wrapConnection?(connection: Connection): Connection;
}

/** The record of a promotion, once the end of the log is known. */
export type Promotion = (maxPhyOffset: number) => HARoleRecord;

export class HANode {
  readonly disk: SimFileSystem;
  readonly logger = new SimLogger();
  readonly reseed: HAReseed;
  life: HALife | null = null;
  /** It is about to start again by itself. */
  isBusy = false;
  /** What haRole.json held at the last start. */
  record: HARoleRecord | null = null;
  /** A planted bug: a promotion is not written. */
  forgetsPromotion = false;
  /** Of the process that runs, or is about to; null: none. */
  clock: HALifeClock | null = null;
  /** Ends what `start` and `stop` wait for. */
  #abort: () => void = () => {};

  constructor(readonly world: HAWorld, readonly options: HANodeOptions) {
    world.nodes.set(options.host, this);
    this.disk = new SimFileSystem({
      random: world.random,
      clock: world.clock,
      directories: ["/data"],
    });
    this.reseed = new HAReseed(this.#reseeded(), this.surgeryPorts);
  }

  /** A new one for each process: a dead one may be in the middle of a write. */
  get roleFile(): HARoleFile {
    const { storePathRootDir } = this.options.store;
    return new HARoleFile(this.disk, storePathRootDir, this.logger);
  }

  get address(): string {
    return `${this.options.host}:${REMOTING_PORT}`;
  }

  get isMaster(): boolean {
    return this.life !== null && this.life.role !== "SLAVE";
  }

  /** True from `end` until the next start. */
  get isEnded(): boolean {
    return this.clock === null;
  }

  /** True when haPeers.json names somebody. */
  get knowsPeers(): boolean {
    const { storePathRootDir } = this.options.store;
    const path = `${storePathRootDir}/config/haPeers.json`;
    return this.disk.stat(path) !== undefined &&
      new TextDecoder().decode(this.disk.readFile(path)).includes(":");
  }

  /** For work on the closed store. */
  get surgeryPorts() {
    const { disk: fileSystem, logger, world: { clock } } = this;
    return { fileSystem, clock, logger };
  }

  /** A new process; null when it ended meanwhile. Rejects when the store cannot be opened. */
  start(): Promise<HALife | null> {
    this.clock = new HALifeClock(this.world.clock);
    return this.world.clock.complete(this.#unlessEnded(this.#begin(null)));
  }

  /**
   * As BrokerController.restart: the broker part stops, `between` works on the closed store, and
   * it starts again; null when the process ended meanwhile. Rejects as the disk does, and nothing
   * runs then. Somebody else moves the time on.
   */
  async restart(
    between: () => Promise<void>,
    promotion: Promotion | null = null,
  ): Promise<HALife | null> {
    this.isBusy = true;
    try {
      return await this.#unlessEnded(this.#restart(between, promotion));
    } catch (error) {
      this.end(false);
      throw error;
    } finally {
      this.isBusy = false;
    }
  }

  /** kill -9, or with `isPower` the plug. */
  end(isPower: boolean): void {
    if (this.life !== null) this.life.isOver = true;
    this.life = null;
    this.clock?.end();
    this.clock = null;
    const { network } = this.world;
    if (isPower) {
      network.powerOff(this.options.host);
      this.disk.crash();
    } else {
      network.kill(this.options.host);
      this.disk.kill();
    }
    this.#abort();
  }

  /** As a producer sends it. Called only while there is a life. */
  put(
    message: MessageExtBrokerInner,
  ): PutMessageResult | Promise<PutMessageResult> {
    const { fence, puts } = this.life!;
    const reason = fence.refusal();
    return reason === null ? puts.putMessage(message) : {
      status: "SERVICE_NOT_AVAILABLE",
      reason,
      phyOffset: -1,
      queueOffset: -1,
      size: 0,
      storeTimestamp: 0,
      messageCount: 0,
    };
  }

  async #restart(
    between: () => Promise<void>,
    promotion: Promotion | null,
  ): Promise<HALife> {
    await this.#stop();
    await between();
    this.clock = new HALifeClock(this.world.clock);
    return await this.#begin(promotion);
  }

  async #begin(promotion: Promotion | null): Promise<HALife> {
    const { options, world } = this;
    const clock = this.clock!;
    this.record = this.roleFile.read();
    const role = this.#role();
    const store = new MessageStore(
      {
        clock,
        random: world.random,
        logger: this.logger,
        fileSystem: this.disk,
      },
      { ...options.store, brokerRole: role },
    );
    await store.load();
    if (promotion !== null) {
      this.record = promotion(store.maxPhyOffset);
      if (!this.forgetsPromotion) await this.roleFile.write(this.record);
      store.reconfigure({ ...options.store, brokerRole: this.#role() });
    }
    await store.start();
    if (this.clock !== clock) return await new Promise(() => {});
    const life = assembleLife(this, store, clock, this.#role());
    await networkOf(this, life).listen(
      { hostname: options.host, port: HA_PORT },
      (connection) => {
        const host = hostOf(connection.remoteAddress);
        if (world.nodes.has(host)) {
          life.fence.remember(`${host}:${REMOTING_PORT}`);
        }
        return life.service.accept(connection);
      },
    );
    clock.every(TICK_MS, () => {
      store.tick(clock.nowMs());
      life.ha.tick();
      life.fence.tick();
      this.reseed.tick(life.ha);
    });
    life.ha.start();
    void life.fence.start();
    return this.life = life;
  }

  async #stop(): Promise<void> {
    const life = this.life!;
    const clock = this.clock!;
    await life.fence.stop().catch(() => {});
    await life.ha.stop(DRAIN_MS);
    life.isOver = true;
    this.life = null;
    this.world.network.kill(this.options.host);
    await life.store.shutdown();
    clock.end();
  }

  #role(): HARole {
    const configured = this.options.master === null ? "SYNC_MASTER" : "SLAVE";
    return this.record?.role ?? configured;
  }

  /** What HAReseed sees of its broker. */
  #reseeded(): HAReseedBroker {
    const life = () => this.life!;
    const isReady = () => this.life !== null && !this.isBusy;
    return {
      get isReady() {
        return isReady();
      },
      get ha() {
        return life().ha;
      },
      get messageStore() {
        return life().store;
      },
      restart: async (_changes, between) => {
        await (this.options.onSurgery?.(between) ?? this.restart(between));
      },
    };
  }

  /** Null when the process ends before. */
  #unlessEnded<T>(work: Promise<T>): Promise<T | null> {
    const ended = new Promise<null>((resolve) => {
      this.#abort = () => resolve(null);
    });
    return Promise.race([work, ended]);
  }
}
