/**
 * BrokerController: one broker, from its ports to its end.
 *
 * Start: bind ports (connections are reset), then one `BrokerRun`. A change of role ends the run
 * and begins another; ports, counters and whoever holds the controller stay.
 */
import type { HACoordinator } from "../ha/ha_coordinator.ts";
import type { Connection } from "../io/network.ts";
import { RemotingServer } from "../remoting/remoting_server.ts";
import type { RequestProcessor } from "../remoting/request_processor.ts";
import type { MessageStore } from "../store/message_store.ts";
import type { RecoveryProgress } from "../store/recovery_pace.ts";
import { chooseAddresses } from "./broker_addresses.ts";
import {
  type BrokerControllerOptions,
  type BrokerListener,
  type BrokerPorts,
  resolveOptions,
} from "./broker_assembly.ts";
import type { BrokerMetadata } from "./broker_metadata.ts";
import type { BrokerOptions } from "./broker_options.ts";
import type { BrokerIdentity } from "./broker_outer_api.ts";
import type { BrokerParts } from "./broker_parts.ts";
import { bindPorts, type BoundPorts, GatedNetwork } from "./broker_ports.ts";
import type { BrokerRegistration } from "./broker_registration.ts";
import {
  BrokerRun,
  type BrokerRunHost,
  type RestartChanges,
} from "./broker_run.ts";
import { HARoleChange } from "./ha_role_change.ts";
import { startErrorOf } from "./broker_start_error.ts";
import type { HAFence } from "./ha_fence.ts";
import { HAReseed } from "./ha_reseed.ts";
import type { HARoleRecord } from "./ha_role_file.ts";
import type { DeferredDelivery } from "./deferred_delivery.ts";
import { RoleChangeBoard } from "./role_change/role_change_board.ts";
import type { PopService } from "./pop/pop_service.ts";
import type { TransactionStats } from "./transaction/transaction_stats.ts";

/** One broker. */
export class BrokerController {
  /**
   * A restart has failed, and nothing of the broker is left: the program has to end as if this
   * were its start. Called with what `restart` rejects with.
   */
  onRestartFailed: ((error: unknown) => void) | null = null;
  /** Of a slave that cannot follow. */
  readonly reseed: HAReseed;
  /** Changes of role under way in this pair. */
  readonly roleChanges = new RoleChangeBoard();
  /** Promotion and demotion. */
  readonly roles: HARoleChange;
  readonly #ports: BrokerPorts;
  readonly #network: GatedNetwork;
  readonly #table = new Map<number, RequestProcessor>();
  readonly #server: RemotingServer;
  #options: BrokerControllerOptions;
  #host: BrokerRunHost | null = null;
  #run: BrokerRun | null = null;
  #loading: MessageStore | null = null;
  #restarting: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;

  constructor(ports: BrokerPorts, options: BrokerControllerOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#network = new GatedNetwork(ports.network);
    this.reseed = new HAReseed(this, ports);
    this.roles = new HARoleChange({
      clock: ports.clock,
      board: this.roleChanges,
      run: () => this.#started(),
      configuredBrokerId: options.broker.brokerId,
      restart: (changes, between) => this.restart(changes, between),
    });
    const { clock, serverTls } = ports;
    const logger = ports.logger.child("remoting");
    this.#server = new RemotingServer(
      { network: this.#network, clock, logger, serverTls },
      options.remotingServer,
      this.#table,
      {
        onOpened: () => this.#run?.running.parts.onConnectionOpened(),
        onClosed: (connection) => {
          this.#run?.running.parts.onConnectionClosed(connection);
          this.#run?.running.metadata.onConnectionClosed(connection);
        },
      },
    );
  }

  /** Rejects with `BrokerStartError` or `StoreStartError`; nothing stays open then. */
  async start(): Promise<void> {
    try {
      this.#host = await this.#bind();
      await this.#begin(this.#host, {});
    } catch (error) {
      await this.#closePorts();
      throw startErrorOf(error, this.#options.broker.storePathRootDir);
    }
  }

  /** Refuses new work, drains, persists, leaves the name servers. Within 10 s. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /**
   * Stops the broker part, runs `between` on the closed store, and starts it again on the same
   * ports: the way of every change that the ordinary start must see. Rejects with an Error when
   * the broker is not ready for it, and is unchanged then; with whatever `between` or the start
   * rejects with otherwise, after `onRestartFailed`.
   */
  async restart(
    changes: RestartChanges,
    between?: () => Promise<void>,
  ): Promise<void> {
    if (!this.isReady) {
      throw new Error("The broker is starting, stopping or changing its role");
    }
    const restarting = this.#restart(changes, between);
    // A stop meanwhile waits for the end, whichever it is.
    this.#restarting = restarting.catch(() => {}).finally(() => {
      this.#restarting = null;
    });
    await restarting;
  }

  /**
   * Takes what may change live: the slices must come from the same configuration. Resolves when
   * a changed role is durable in haRole.json; rejects with `FileError`.
   */
  async reconfigure(options: BrokerControllerOptions): Promise<void> {
    const before = this.#options.broker;
    const broker: BrokerOptions = {
      ...options.broker,
      brokerName: before.brokerName,
      brokerIP1: before.brokerIP1,
      brokerIP2: before.brokerIP2,
      listenPort: before.listenPort,
      haListenPort: before.haListenPort,
    };
    this.#options = { ...options, broker };
    // Between two runs the next one takes them.
    await this.#run?.reconfigure(this.#options);
  }

  /** Bound ports; empty before the start. */
  get listeners(): readonly BrokerListener[] {
    return this.#run?.running.listeners ?? [];
  }

  /** The options in force, with ports and addresses filled in. */
  get options(): BrokerControllerOptions {
    return this.#run?.running.options ?? this.#options;
  }

  get identity(): BrokerIdentity {
    return this.#started().running.identity;
  }

  get messageStore(): MessageStore {
    return this.#started().running.parts.messageStore;
  }

  /** Managers by name. */
  get parts(): BrokerParts {
    return this.#started().running.parts;
  }

  get registration(): BrokerRegistration {
    return this.#started().running.registration;
  }

  get ha(): HACoordinator {
    return this.#started().running.ha;
  }

  /** Whether another broker was promoted. */
  get fence(): HAFence {
    return this.#started().running.fence;
  }

  /** POP consumption. */
  get pop(): PopService {
    return this.#started().running.pop;
  }

  /** Delivery of delay levels. */
  get schedule(): DeferredDelivery {
    return this.#started().running.schedule;
  }

  /** What haRole.json holds; null: the configuration decides the role. */
  get haRole(): HARoleRecord | null {
    return this.#started().haRole;
  }

  /** Counts promotions; of a slave, as far as it knows those of its master. */
  get epoch(): number {
    const { haRole, masterWatch, running } = this.#started();
    const own = haRole?.epoch ?? 0;
    if (running.ha.role !== "SLAVE") return own;
    const { stateVersion } = running.parts.topicConfigManager.dataVersion;
    return Math.max(own, stateVersion, masterWatch.last?.epoch ?? 0);
  }

  /** The promotion or demotion that is under way in this pair; null: none is known. */
  get roleChangeReason(): string | null {
    return this.roleChanges.reason(this.#ports.clock.monotonicMs());
  }

  /** Tables and positions of the pair. */
  get metadata(): BrokerMetadata {
    return this.#started().running.metadata;
  }

  get transactionStats(): TransactionStats {
    return this.#started().running.processors.transactions.stats;
  }

  get remotingServer(): RemotingServer {
    return this.#server;
  }

  /** True from the end of `start` to the begin of `stop`, but not during a restart. */
  get isReady(): boolean {
    return this.#run !== null && this.#run.isReady;
  }

  /** True during a restart of the broker part: a change of the role, or a re-seed. */
  get isRestarting(): boolean {
    return this.#restarting !== null;
  }

  /** How far the log is recovered; null when none is. */
  get recoveryProgress(): RecoveryProgress | null {
    return this.#loading?.recoveryProgress ?? null;
  }

  #started(): BrokerRun {
    if (this.#run === null) throw new Error("The broker is not started");
    return this.#run;
  }

  async #bind(): Promise<BrokerRunHost> {
    const bound: BoundPorts = await bindPorts(
      this.#ports.network,
      {
        remoting: (at) => this.#server.listen(at),
        ha: (at) => this.#network.listen(at, this.#acceptHA),
      },
      this.#options.broker,
    );
    const { host } = this.#ports;
    const addresses = chooseAddresses(this.#options.broker, host.addresses());
    this.#options = resolveOptions(this.#options, bound, addresses, host);
    return {
      ports: this.#ports,
      network: this.#network,
      server: this.#server,
      table: this.#table,
      bound,
      addresses,
      roleChanges: this.roleChanges,
      onLoading: (store) => void (this.#loading = store),
      onTick: (ha) => this.reseed.tick(ha),
    };
  }

  async #begin(
    host: BrokerRunHost,
    changes: RestartChanges,
  ): Promise<void> {
    try {
      this.#run = await BrokerRun.start(host, this.#options, changes);
    } finally {
      this.#loading = null;
    }
    await this.#run.open();
  }

  readonly #acceptHA = (connection: Connection) =>
    this.#started().running.ha.service.accept(connection);

  async #restart(
    changes: RestartChanges,
    between?: () => Promise<void>,
  ): Promise<void> {
    const run = this.#started();
    const { shutdownDrainMs, storePathRootDir } = this.#options.broker;
    try {
      await run.stop(() => this.#server.pause(shutdownDrainMs));
      this.#network.close();
      if (changes.haRole) await run.writeHARole(changes.haRole);
      await between?.();
      this.#run = null;
      await this.#begin(this.#host!, changes);
    } catch (error) {
      this.#run = null;
      await this.#closePorts();
      const failure = startErrorOf(error, storePathRootDir);
      this.#ports.logger.error(
        "The broker stopped for a change of its role and cannot start again",
        { error: failure },
      );
      this.onRestartFailed?.(failure);
      throw failure;
    }
  }

  async #stop(): Promise<void> {
    await this.#restarting;
    const { shutdownDrainMs } = this.#options.broker;
    await this.#run?.stop(() => this.#server.pause(shutdownDrainMs));
    await this.#closePorts();
  }

  async #closePorts(): Promise<void> {
    await this.#server.stop(0);
    await this.#host?.bound.ha.close();
  }
}
