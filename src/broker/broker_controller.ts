/**
 * BrokerController: one broker, from its ports to its end. Wiring only.
 *
 * Start: bind ports (connections are reset), open the store, read the tables,
 * let clients in, register. Stop: the same, backwards.
 */
import type { Clock, Timer } from "../io/clock.ts";
import type { FileSystem } from "../io/file_system.ts";
import type { Host } from "../io/host.ts";
import type { Logger } from "../io/logger.ts";
import type { Network } from "../io/network.ts";
import type { Random } from "../io/random.ts";
import { MessageClientIDSetter } from "../model/message_client_id_setter.ts";
import { RemotingClient } from "../remoting/remoting_client.ts";
import type {
  RemotingClientOptions,
  RemotingServerOptions,
} from "../remoting/remoting_options.ts";
import { RemotingServer } from "../remoting/remoting_server.ts";
import type { RequestProcessor } from "../remoting/request_processor.ts";
import { MessageStore } from "../store/message_store.ts";
import type { MessageStoreOptions } from "../store/store_options.ts";
import {
  type BrokerAddresses,
  chooseAddresses,
  joinHostPort,
} from "./broker_addresses.ts";
import type { BrokerOptions } from "./broker_options.ts";
import { type BrokerIdentity, BrokerOuterAPI } from "./broker_outer_api.ts";
import { BrokerParts } from "./broker_parts.ts";
import { bindPorts, type BoundPorts, GatedNetwork } from "./broker_ports.ts";
import { BrokerRegistration } from "./broker_registration.ts";
import { BrokerProcessors } from "./processor_table.ts";
import { ShutdownGate } from "./shutdown_gate.ts";

/** The outside world of a broker. */
export interface BrokerPorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly fileSystem: FileSystem;
  readonly host: Host;
}

/** One slice per room. */
export interface BrokerControllerOptions {
  readonly broker: BrokerOptions;
  readonly store: MessageStoreOptions;
  readonly remotingServer: RemotingServerOptions;
  readonly remotingClient: RemotingClientOptions;
}

/** A bound port, as start-up lines show it. */
export interface BrokerListener {
  readonly name: "broker" | "vip";
  readonly bound: string;
  readonly advertised: string;
  readonly why: string;
}

/** What exists between start and stop. */
interface RunningBroker {
  readonly options: BrokerControllerOptions;
  readonly identity: BrokerIdentity;
  readonly listeners: readonly BrokerListener[];
  readonly parts: BrokerParts;
  readonly processors: BrokerProcessors;
  readonly registration: BrokerRegistration;
}

const TICK_INTERVAL_MS = 100;

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
        onClosed: (connection) =>
          this.#running?.parts.onConnectionClosed(connection),
      },
    );
    this.#client = new RemotingClient(
      { network: ports.network, clock, logger },
      options.remotingClient,
    );
    this.#client.onClosed = (address) =>
      this.#running?.registration.onConnectionClosed(address);
  }

  /** Rejects with `BrokerStartError` or `StoreStartError`; nothing stays open then. */
  async start(): Promise<void> {
    let store: MessageStore | null = null;
    try {
      const bound = await bindPorts(
        this.#ports.network,
        (at) => this.#server.listen(at),
        this.#options.broker,
      );
      const { host } = this.#ports;
      const addresses = chooseAddresses(
        this.#options.broker,
        host.addresses(),
      );
      this.#options = this.#resolved(bound, addresses);
      store = new MessageStore(
        { ...this.#ports, logger: this.#ports.logger.child("store") },
        this.#options.store,
      );
      await store.load();
      this.#running = this.#assemble(store, bound, addresses);
      await store.start();
      this.#open(this.#running);
    } catch (error) {
      await this.#server.stop(0);
      await this.#client.close();
      await store?.shutdown();
      throw error;
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
    running.processors.reconfigure(broker, options.store);
    running.registration.reconfigure(broker);
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

  #resolved(
    bound: BoundPorts,
    addresses: BrokerAddresses,
  ): BrokerControllerOptions {
    const { broker } = this.#options;
    return {
      ...this.#options,
      broker: {
        ...broker,
        brokerName: broker.brokerName || this.#ports.host.hostname(),
        listenPort: bound.broker.port,
        haListenPort: bound.haListenPort,
        brokerIP1: addresses.brokerIP1,
        brokerIP2: addresses.brokerIP2,
      },
    };
  }

  #assemble(
    store: MessageStore,
    bound: BoundPorts,
    addresses: BrokerAddresses,
  ): RunningBroker {
    const { clock, host, logger, random } = this.#ports;
    const { broker } = this.#options;
    const storeHost = {
      address: addresses.storeAddress,
      port: broker.listenPort,
    };
    const parts = new BrokerParts(this.#ports, broker, store);
    parts.load();
    const identity: BrokerIdentity = {
      clusterName: broker.brokerClusterName,
      brokerName: broker.brokerName,
      brokerAddr: joinHostPort(broker.brokerIP1, broker.listenPort),
      brokerId: broker.brokerId,
      haServerAddr: joinHostPort(broker.brokerIP2, broker.haListenPort),
      heartbeatTimeoutMillis: broker.brokerNotActiveTimeoutMillis,
    };
    const registration = new BrokerRegistration(
      {
        outerAPI: new BrokerOuterAPI(this.#client),
        topics: parts.topicConfigManager,
        clock,
        logger: logger.child("namesrv"),
      },
      identity,
      broker,
    );
    const processors = new BrokerProcessors(
      parts,
      {
        clock,
        random,
        logger,
        storeHost,
        uniqIds: new MessageClientIDSetter(
          storeHost.address,
          host.pid,
          random,
        ),
        gate: this.#gate,
      },
      broker,
      this.#options.store,
    );
    return {
      options: this.#options,
      identity,
      listeners: listenersOf(bound, addresses),
      parts,
      processors,
      registration,
    };
  }

  /** Everything is in place: lets clients in, tells the name servers, starts the clock. */
  #open(running: RunningBroker): void {
    const { parts, processors, registration } = running;
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
    ) =>
      hold.notifyMessageArriving(
        topic,
        queueId,
        nextOffset,
        tagsCode,
        propertiesText,
      );
    topicConfigManager.onChanged = (topic) => {
      registration.onTopicsChanged(topic?.topicName);
      // At once, but together with the other changes of this turn.
      Promise.resolve().then(() => registration.tick(clock.nowMs()));
    };
    this.#network.open();
    registration.start();
    this.#timer = clock.every(TICK_INTERVAL_MS, () => this.#tick(running));
  }

  #tick({ parts, registration }: RunningBroker): void {
    const nowMs = this.#ports.clock.nowMs();
    parts.messageStore.tick(nowMs);
    parts.tick(nowMs);
    registration.tick(nowMs);
    this.#server.tick(nowMs);
    this.#client.tick(nowMs);
  }

  async #stop(): Promise<void> {
    this.#gate.close();
    const running = this.#running;
    if (running === null) return;
    const { parts, registration } = running;
    parts.pullRequestHoldService.wakeAll();
    // Time-outs need ticks until the last request is answered.
    await Promise.all([
      registration.stop(),
      this.#server.stop(this.#options.broker.shutdownDrainMs),
    ]);
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

function listenersOf(
  bound: BoundPorts,
  { brokerIP1, why }: BrokerAddresses,
): BrokerListener[] {
  const all = [["broker", bound.broker], ["vip", bound.vip]] as const;
  return all.map(([name, listener]) => ({
    name,
    bound: joinHostPort(listener.hostname, listener.port),
    advertised: joinHostPort(brokerIP1, listener.port),
    why,
  }));
}
