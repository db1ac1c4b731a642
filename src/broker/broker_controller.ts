/**
 * BrokerController: one broker, from its ports to its end. Wiring only.
 *
 * Start: bind ports (connections are reset), open the store, read the tables,
 * let clients in, register. Stop: the same, backwards.
 */
import type { HACoordinator } from "../ha/ha_coordinator.ts";
import type { Timer } from "../io/clock.ts";
import type { Connection, Listener } from "../io/network.ts";
import { RemotingClient } from "../remoting/remoting_client.ts";
import { RemotingServer } from "../remoting/remoting_server.ts";
import type { RequestProcessor } from "../remoting/request_processor.ts";
import { MessageStore } from "../store/message_store.ts";
import { chooseAddresses } from "./broker_addresses.ts";
import {
  assembleBroker,
  type BrokerControllerOptions,
  type BrokerListener,
  type BrokerPorts,
  resolveOptions,
  type RunningBroker,
} from "./broker_assembly.ts";
import type { BrokerMetadata } from "./broker_metadata.ts";
import type { BrokerOptions } from "./broker_options.ts";
import type { BrokerIdentity } from "./broker_outer_api.ts";
import type { BrokerParts } from "./broker_parts.ts";
import { bindPorts, GatedNetwork } from "./broker_ports.ts";
import type { BrokerRegistration } from "./broker_registration.ts";
import { startErrorOf } from "./broker_start_error.ts";
import { ShutdownGate } from "./shutdown_gate.ts";

const TICK_INTERVAL_MS = 100;
/** How long a stop waits for slaves to have everything. */
const HA_DRAIN_MS = 2_000;

/** One broker. */
export class BrokerController {
  readonly #ports: BrokerPorts;
  readonly #gate = new ShutdownGate();
  readonly #network: GatedNetwork;
  readonly #table = new Map<number, RequestProcessor>();
  readonly #server: RemotingServer;
  readonly #client: RemotingClient;
  #options: BrokerControllerOptions;
  #running: RunningBroker | null = null;
  #haListener: Listener | null = null;
  #timer: Timer | null = null;
  #stopped: Promise<void> | null = null;

  constructor(ports: BrokerPorts, options: BrokerControllerOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#network = new GatedNetwork(ports.network);
    const { clock } = ports;
    const logger = ports.logger.child("remoting");
    this.#server = new RemotingServer(
      { network: this.#network, clock, logger },
      options.remotingServer,
      this.#table,
      {
        onClosed: (connection) => {
          this.#running?.parts.onConnectionClosed(connection);
          this.#running?.metadata.onConnectionClosed(connection);
        },
      },
    );
    this.#client = new RemotingClient(
      { network: ports.network, clock, logger },
      options.remotingClient,
    );
    this.#client.onClosed = (address) => {
      this.#running?.registration.onConnectionClosed(address);
      this.#running?.metadata.onClientClosed(address);
    };
  }

  /** Rejects with `BrokerStartError` or `StoreStartError`; nothing stays open then. */
  async start(): Promise<void> {
    let store: MessageStore | null = null;
    try {
      const bound = await bindPorts(
        this.#ports.network,
        {
          remoting: (at) => this.#server.listen(at),
          ha: (at) => this.#network.listen(at, this.#acceptHA),
        },
        this.#options.broker,
      );
      this.#haListener = bound.ha;
      const { host } = this.#ports;
      const addresses = chooseAddresses(
        this.#options.broker,
        host.addresses(),
      );
      this.#options = resolveOptions(this.#options, bound, addresses, host);
      store = new MessageStore(this.#ports, this.#options.store);
      await store.load();
      this.#running = assembleBroker(
        this.#ports,
        this.#options,
        store,
        this.#client,
        this.#gate,
        bound,
        addresses,
      );
      await this.#running.parts.dropDeletedTopics();
      await store.start();
      this.#open(this.#running);
    } catch (error) {
      await this.#server.stop(0);
      await this.#haListener?.close();
      await this.#client.close();
      await store?.shutdown();
      throw startErrorOf(error, this.#options.broker.storePathRootDir);
    }
  }

  /** Refuses new work, drains, persists, leaves the name servers. Within 10 s. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Takes what may change live: the slices must come from the same configuration. */
  reconfigure(options: BrokerControllerOptions): void {
    const running = this.#started();
    const before = running.options.broker;
    const broker: BrokerOptions = {
      ...options.broker,
      brokerName: before.brokerName,
      brokerIP1: before.brokerIP1,
      brokerIP2: before.brokerIP2,
      listenPort: before.listenPort,
      haListenPort: before.haListenPort,
    };
    this.#options = { ...options, broker };
    this.#running = { ...running, options: this.#options };
    running.parts.messageStore.reconfigure(options.store);
    running.parts.reconfigure(broker);
    running.metadata.reconfigure(broker);
    running.processors.reconfigure(broker, options.store);
    running.registration.reconfigure(broker);
    running.ha.reconfigure(options.ha);
    if (before.brokerPermission !== broker.brokerPermission) {
      // Name servers look at topics only when their version is another one.
      running.parts.topicConfigManager.updateDataVersion();
    }
  }

  /** Bound ports; empty before the start. */
  get listeners(): readonly BrokerListener[] {
    return this.#running?.listeners ?? [];
  }

  /** The options in force, with ports and addresses filled in. */
  get options(): BrokerControllerOptions {
    return this.#options;
  }

  get identity(): BrokerIdentity {
    return this.#started().identity;
  }

  get messageStore(): MessageStore {
    return this.#started().parts.messageStore;
  }

  /** Managers by name. */
  get parts(): BrokerParts {
    return this.#started().parts;
  }

  get registration(): BrokerRegistration {
    return this.#started().registration;
  }

  get ha(): HACoordinator {
    return this.#started().ha;
  }

  /** Tables and positions of the pair. */
  get metadata(): BrokerMetadata {
    return this.#started().metadata;
  }

  get remotingServer(): RemotingServer {
    return this.#server;
  }

  /** True from the end of `start` to the begin of `stop`. */
  get isReady(): boolean {
    return this.#timer !== null && !this.#gate.isClosed;
  }

  #started(): RunningBroker {
    if (this.#running === null) throw new Error("The broker is not started");
    return this.#running;
  }

  /** Everything is in place: lets clients in, tells the name servers, starts the clock. */
  #open(running: RunningBroker): void {
    const { ha, metadata, neighbours, parts, processors, registration } =
      running;
    const { clock } = this.#ports;
    const { pullRequestHoldService: hold, topicConfigManager } = parts;
    processors.fill(this.#table);
    parts.messageStore.messageArrivingListener = (
      topic,
      queueId,
      nextOffset,
      tagsCode,
      _storeTimestamp,
      propertiesText,
    ) => {
      hold.notifyMessageArriving(
        topic,
        queueId,
        nextOffset,
        tagsCode,
        propertiesText,
      );
      metadata.onArriving(topic);
    };
    topicConfigManager.onChanged = (topic) => {
      registration.onTopicsChanged(topic?.topicName);
      // At once, but together with the other changes of this turn.
      Promise.resolve().then(() => registration.tick());
    };
    this.#network.open();
    ha.start();
    metadata.start(running.identity, running.options.broker.namesrvAddr);
    neighbours.start();
    registration.start();
    this.#timer = clock.every(TICK_INTERVAL_MS, () => this.#tick(running));
  }

  readonly #acceptHA = (connection: Connection) =>
    this.#started().ha.service.accept(connection);

  #tick(running: RunningBroker): void {
    const { ha, metadata, neighbours, parts, registration } = running;
    const nowMs = this.#ports.clock.nowMs();
    parts.messageStore.tick(nowMs);
    ha.tick();
    parts.tick(nowMs);
    metadata.tick();
    neighbours.tick();
    registration.tick();
    this.#server.tick(nowMs);
    this.#client.tick(nowMs);
  }

  async #stop(): Promise<void> {
    this.#gate.close();
    const running = this.#running;
    if (running === null) return;
    const { ha, metadata, parts, registration } = running;
    parts.pullRequestHoldService.wakeAll();
    metadata.stop();
    // Time-outs need ticks until the last request is answered.
    await Promise.all([
      registration.stop(),
      this.#server.stop(this.#options.broker.shutdownDrainMs),
    ]);
    // After the last put was answered: it may have waited for a slave.
    await ha.stop(HA_DRAIN_MS);
    await this.#haListener?.close();
    this.#timer?.cancel();
    this.#timer = null;
    await this.#client.close();
    const { logger } = this.#ports;
    await parts.persist().catch((error: unknown) =>
      logger.error("Cannot write all tables at shutdown", { error })
    );
    await parts.messageStore.shutdown();
  }
}
