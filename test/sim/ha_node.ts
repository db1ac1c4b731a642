/** HANode: one broker of a simulated pair: its host, its disk, and its lives one after the other. */
import type { Clock, Timer } from "../../src/io/clock.ts";
import type {
  Connection,
  ConnectionEvents,
  Network,
} from "../../src/io/network.ts";
import { HAClientService } from "../../src/ha/ha_client_service.ts";
import type { HAOptions } from "../../src/ha/ha_options.ts";
import { HAService } from "../../src/ha/ha_service.ts";
import type { MasterProbe } from "../../src/ha/master_probe.ts";
import { ReplicatedStore } from "../../src/ha/replicated_store.ts";
import { MessageStore } from "../../src/store/message_store.ts";
import type { ReplicaLog } from "../../src/store/replica_log.ts";
import type { MessageStoreOptions } from "../../src/store/store_options.ts";
import type { SimClock } from "./sim_clock.ts";
import { SimFileSystem } from "./sim_file_system.ts";
import { SimLogger } from "./sim_logger.ts";
import type { SimNetwork } from "./sim_network.ts";
import type { SimRandom } from "./sim_random.ts";

export const HA_PORT = 10_912;
const TICK_MS = 100;

/** What both nodes live in. */
export interface HAWorld {
  readonly clock: SimClock;
  readonly random: SimRandom;
  readonly network: SimNetwork;
}

/** What one process may touch; ends with it. */
export interface HALife {
  readonly store: MessageStore;
  /** The master's side; slaves have one too. */
  readonly service: HAService;
  readonly client: HAClientService | null;
  readonly puts: ReplicatedStore;
  isOver: boolean;
}

/** How a node is built, and where a test reaches in. */
export interface HANodeOptions {
  readonly host: string;
  readonly store: Partial<MessageStoreOptions>;
  readonly ha: HAOptions;
  /** Host of the master; null on the master. */
  readonly master: string | null;
  probe(): MasterProbe;
  /** What the slave's shell gets as its log. */
  wrapLog?(log: ReplicaLog, clock: Clock): ReplicaLog;
  /** A connection as the process sees it. */
  wrapEvents?(events: ConnectionEvents, end: () => void): ConnectionEvents;
  /** A connection as the process writes to it. */
  wrapConnection?(connection: Connection): Connection;
}

/** Timers that end with a process. */
class LifeClock implements Clock {
  readonly #timers = new Set<Timer>();
  constructor(private readonly clock: Clock) {}

  nowMs(): number {
    return this.clock.nowMs();
  }

  monotonicMs(): number {
    return this.clock.monotonicMs();
  }

  every(intervalMs: number, run: () => void): Timer {
    return this.#keep(this.clock.every(intervalMs, run));
  }

  after(delayMs: number, run: () => void): Timer {
    return this.#keep(this.clock.after(delayMs, run));
  }

  end(): void {
    for (const it of this.#timers) it.cancel();
  }

  #keep(timer: Timer): Timer {
    this.#timers.add(timer);
    return timer;
  }
}

export class HANode {
  readonly disk: SimFileSystem;
  readonly logger = new SimLogger();
  life: HALife | null = null;
  #clock: LifeClock | null = null;

  constructor(readonly world: HAWorld, readonly options: HANodeOptions) {
    this.disk = new SimFileSystem({
      random: world.random,
      clock: world.clock,
      directories: ["/data"],
    });
  }

  /** A new process; null while the store cannot be opened. */
  async start(): Promise<HALife | null> {
    const { world, options } = this;
    const clock = new LifeClock(world.clock);
    const ports = { clock, random: world.random, logger: this.logger };
    const store = new MessageStore(
      { ...ports, fileSystem: this.disk },
      options.store as MessageStoreOptions,
    );
    await world.clock.complete(store.load());
    await world.clock.complete(store.start());
    const life: { -readonly [P in keyof HALife]: HALife[P] } = {
      store,
      isOver: false,
    } as never;
    const log = options.wrapLog?.(store.replicaLog, clock) ?? store.replicaLog;
    const network = this.#networkOf(life);
    life.service = new HAService({
      ...ports,
      log,
      onReplicated: (offset) => void (store.replicatedOffset = offset),
    }, options.ha);
    life.puts = new ReplicatedStore(store, life.service, clock);
    life.puts.isSync = options.master === null;
    life.client = options.master === null ? null : new HAClientService({
      ...ports,
      network,
      log,
      probe: options.probe(),
      onAppended: () => life.service.onAppended(),
    }, options.ha);
    await network.listen(
      { hostname: options.host, port: HA_PORT },
      (connection) => life.service.accept(connection),
    );
    clock.every(TICK_MS, () => {
      store.tick(clock.nowMs());
      life.service.tick();
      life.client?.tick();
    });
    if (options.master !== null) {
      life.client?.follow(`${options.master}:${HA_PORT}`);
      life.client?.start();
    }
    this.life = life;
    this.#clock = clock;
    return life;
  }

  /** kill -9, or with `isPower` the plug. */
  end(isPower: boolean): void {
    if (this.life === null) return;
    this.life.isOver = true;
    this.life = null;
    this.#clock?.end();
    const { network } = this.world;
    if (isPower) {
      network.powerOff(this.options.host);
      this.disk.crash();
    } else {
      network.kill(this.options.host);
      this.disk.kill();
    }
  }

  #networkOf(life: { isOver: boolean }): Network {
    const { options, world } = this;
    const network = world.network.host(options.host);
    const events = (inner: ConnectionEvents, end: () => void) =>
      options.wrapEvents?.(inner, end) ?? inner;
    const wrap = (it: Connection) => options.wrapConnection?.(it) ?? it;
    return {
      listen: (at, accept) =>
        network.listen(
          at,
          (connection) =>
            events(accept(wrap(connection)), () => connection.terminate()),
        ),
      connect: async (to, inner) => {
        let made: Connection | null = null;
        const outer = events(inner, () => made?.terminate());
        made = await network.connect(to, outer);
        if (!life.isOver) return wrap(made);
        made.terminate(); // The process is gone: the kernel resets.
        return await new Promise(() => {});
      },
    };
  }
}
