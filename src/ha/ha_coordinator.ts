/**
 * HACoordinator: role and lifetime of replication on one broker.
 *
 * Every role accepts followers; a SLAVE also follows its master, whose HA address is
 * `haMasterAddress` or what the name servers answer to each registration.
 */
import { withArticle } from "../base/article.ts";
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { Network } from "../io/network.ts";
import type { Random } from "../io/random.ts";
import type { ReplicaLog } from "../store/replica_log.ts";
import type { AdmissionAnswer } from "./ha_admission.ts";
import { HAClientService } from "./ha_client_service.ts";
import type { HAOptions } from "./ha_options.ts";
import {
  clientInfoOf,
  connectionInfoOf,
  type HAConnectionRuntimeInfo,
} from "./ha_runtime_info.ts";
import { HAService } from "./ha_service.ts";
import { hostOf } from "./ha_strangers.ts";
import {
  type HAState,
  type HAStateWord,
  masterState,
  type NeighbourWarning,
  slaveState,
} from "./ha_state.ts";
import type { MasterProbe } from "./master_probe.ts";
import { type PutStore, ReplicatedStore } from "./replicated_store.ts";

/** brokerRole. */
export type HARole = "ASYNC_MASTER" | "SYNC_MASTER" | "SLAVE";

/** What replication needs of its broker. */
export interface HACoordinatorPorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly log: ReplicaLog;
  readonly store: PutStore;
  readonly probe: MasterProbe;
  /** `host:port` of the own HA port, as others are told. */
  readonly haAddress: string;
  /** Remoting address of a master whose HA address is given; null while unknown. */
  masterAddressOf(haAddress: string | null): string | null;
  /** Why the slave that connects from `addr` must not be served; null when it may. */
  admit(addr: string): AdmissionAnswer | Promise<AdmissionAnswer>;
  /** A slave has lost its master: the name servers may know where it is now. */
  askForMaster(): void;
  /** Slaves alive now have acked up to here. */
  onReplicated(offset: number): void;
}

/** What a name server says of the master. */
export interface MasterRegistration {
  readonly masterAddr: string | undefined;
  readonly haServerAddr: string | undefined;
}

/** Between two looks at the state. */
const LOOK_INTERVAL_MS = 500;
/** Between two questions for a master that is gone. */
const ASK_INTERVAL_MS = 2_000;

/** Replication of one broker. */
export class HACoordinator {
  readonly service: HAService;
  readonly client: HAClientService;
  /** Puts that wait as the role demands. */
  readonly store: ReplicatedStore;
  /** About the neighbours in the name servers; null while they fit. */
  neighbourWarning: NeighbourWarning | null = null;
  /** brokerRole of whoever is followed, as it told last; null while unknown. */
  masterRole: string | null = null;
  /** Why this master accepts nothing: another broker was promoted; null: none is known. */
  #fencedReason: string | null = null;
  /** What somebody can do for a slave that cannot follow, in one clause; null: nothing. */
  remedy: (() => string | null) | null = null;
  readonly #ports: HACoordinatorPorts;
  readonly #logger: Logger;
  #shown: HAStateWord | null = null;
  #nextLookMs = 0;
  #nextAskMs = 0;
  #role: HARole;
  #options: HAOptions;
  #masterAddr: string | null = null;
  /** What name servers said last, until it is acted upon. */
  #announced: MasterRegistration | null = null;

  constructor(ports: HACoordinatorPorts, role: HARole, options: HAOptions) {
    const { clock, log, onReplicated } = ports;
    const logger = ports.logger.child("ha");
    this.#ports = ports;
    this.#logger = logger;
    this.#role = role;
    this.#options = options;
    this.service = new HAService({
      clock,
      logger,
      log,
      onReplicated,
      admit: (addr) => ports.admit(addr),
    }, options);
    this.client = new HAClientService({
      ...ports,
      logger,
      onAppended: () => this.service.onAppended(),
    }, options);
    this.store = new ReplicatedStore(ports.store, this.service, clock);
    this.store.isSync = role === "SYNC_MASTER";
  }

  get role(): HARole {
    return this.#role;
  }

  get options(): HAOptions {
    return this.#options;
  }

  /** The master's remoting address as the name servers say it; null while unknown. */
  get registeredMasterAddr(): string | null {
    return this.#masterAddr;
  }

  /** The HA address that a slave follows; null while unknown, and for masters. */
  get haMasterAddress(): string | null {
    return this.#role === "SLAVE" ? this.client.masterAddr : null;
  }

  /** The master's remoting address; null while unknown, and for masters. */
  get masterAddress(): string | null {
    return this.#role === "SLAVE"
      ? this.#ports.masterAddressOf(this.client.masterAddr)
      : null;
  }

  /** `lastMaster`: whom a slave follows until it is told of another one; empty: nobody. */
  start(lastMaster = ""): void {
    if (this.#role !== "SLAVE") return;
    const address = this.#options.haMasterAddress || lastMaster;
    if (address !== "") this.client.follow(address);
    this.client.start();
  }

  /** Gives slaves what they still lack, for `drainMs` at most, then ends all links and waits. */
  async stop(drainMs: number): Promise<void> {
    this.client.stop();
    await this.service.drained(this.#ports.clock.monotonicMs() + drainMs);
    this.service.shutdown("this broker stops");
  }

  /** Every 100 ms. */
  tick(): void {
    this.service.tick();
    this.client.tick();
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs < this.#nextLookMs) return;
    this.#nextLookMs = nowMs + LOOK_INTERVAL_MS;
    this.#followAnnounced();
    this.#tellState();
    this.#askForMaster(nowMs);
  }

  /** Registration comes every 30 s; a master that has moved is looked for sooner. */
  #askForMaster(nowMs: number): void {
    const isFixed = this.#options.haMasterAddress !== "";
    if (this.#role !== "SLAVE" || isFixed || nowMs < this.#nextAskMs) return;
    // Whom it follows may have been demoted, and another one promoted.
    const isLost = this.client.view().problem === "disconnected" ||
      this.masterRole === "SLAVE";
    if (!isLost) return;
    this.#nextAskMs = nowMs + ASK_INTERVAL_MS;
    this.#ports.askForMaster();
  }

  /** Followers. */
  connections(): HAConnectionRuntimeInfo[] {
    return [...this.service.links].map((it) =>
      connectionInfoOf(this.service, it)
    );
  }

  /** Another broker was promoted: nobody follows this one any more, in good faith or by mistake. */
  fence(reason: string): void {
    this.#fencedReason = reason;
    this.service.shutdown("another broker was promoted to master");
  }

  /** Slaves connected now. */
  get slaveCount(): number {
    let count = 0;
    for (const { machine } of this.service.links) if (machine.isSlave) count++;
    return count;
  }

  /** True while somebody at `host` is connected to the HA port. */
  hasLinkFrom(host: string): boolean {
    for (const { addr } of this.service.links) {
      if (hostOf(addr) === host) return true;
    }
    return false;
  }

  /** In one word and one sentence. */
  state(): HAState {
    const { neighbourWarning } = this;
    if (this.#role === "SLAVE") {
      const { problem, reason } = this.client.view();
      const info = clientInfoOf(this.client);
      const remedy = this.remedy?.() ?? null;
      const { masterRole } = this;
      return slaveState({
        info,
        problem,
        reason,
        remedy,
        masterRole,
        neighbourWarning,
      });
    }
    return masterState({
      fencedReason: this.#fencedReason,
      haAddress: this.#ports.haAddress,
      isSync: this.#role === "SYNC_MASTER",
      isDegraded: this.service.isDegraded,
      haSyncMode: this.#options.haSyncMode,
      connections: this.connections(),
      problems: this.service.problems(),
      neighbourWarning,
    });
  }

  /** One line per change. */
  #tellState(): void {
    const { reason, state } = this.state();
    if (state === this.#shown) return;
    const isFirst = this.#shown === null;
    this.#shown = state;
    // A broker without a slave is no news; a pair that lost one is.
    if (isFirst && state === "alone" && this.#role === "ASYNC_MASTER") return;
    const message = `Replication is ${state}` +
      (reason === null ? "" : `: ${reason}`);
    if (state === "healthy" || state === "catching-up") {
      this.#logger.info(message, { state });
    } else this.#logger.warn(message, { state });
  }

  /** From one kind of master to the other; a SLAVE becomes one by a restart of the broker part. */
  switchRole(role: Exclude<HARole, "SLAVE">): void {
    if (this.#role === "SLAVE" || this.#role === role) return;
    this.#role = role;
    this.store.isSync = role === "SYNC_MASTER";
    this.#logger.info(`This broker is ${withArticle(role)} from now on`, {
      role,
    });
  }

  reconfigure(options: HAOptions): void {
    this.#options = options;
    this.service.reconfigure(options);
    this.client.reconfigure(options);
  }

  /** A name server has answered; without a master, the last one known stays. */
  onRegistered(registration: MasterRegistration): void {
    if (this.#role !== "SLAVE") return;
    if (registration.masterAddr === undefined) return;
    this.#announced = registration;
    this.#followAnnounced();
  }

  /** A master whose link works has not moved, whoever else claims its place. */
  #followAnnounced(): void {
    const announced = this.#announced;
    if (announced === null) return;
    // A link that works is kept, unless it leads to another slave.
    if (this.client.isTransferring && this.masterRole !== "SLAVE") return;
    this.#announced = null;
    this.#masterAddr = announced.masterAddr ?? null;
    const isFixed = this.#options.haMasterAddress !== "";
    if (announced.haServerAddr !== undefined && !isFixed) {
      this.client.follow(announced.haServerAddr);
    }
  }
}
