/** NamesrvController: wires one name server and owns its timer. */
import type { Clock, Timer } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { Listener, Network } from "../io/network.ts";
import { encodeNotifyMinBrokerIdHeader } from "../protocol/header/notify_min_broker_id_header.ts";
import { createRequest } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import type { ServerTls, TlsSource } from "../remoting/entrance/tls_ports.ts";
import { RemotingClient } from "../remoting/remoting_client.ts";
import {
  DEFAULT_REMOTING_CLIENT_OPTIONS,
  type RemotingServerOptions,
} from "../remoting/remoting_options.ts";
import { RemotingServer } from "../remoting/remoting_server.ts";
import type { RemotingConnection } from "../remoting/request_processor.ts";
import { type JsonTextFile, KVConfigManager } from "./kv_config_manager.ts";
import type { NamesrvContext } from "./namesrv_context.ts";
import type { NamesrvOptions } from "./namesrv_options.ts";
import { brokerProcessors } from "./processor/broker_processor.ts";
import { configProcessors } from "./processor/config_processor.ts";
import { routeProcessors } from "./processor/route_processor.ts";
import { topicProcessors } from "./processor/topic_processor.ts";
import type { RouteEffect } from "./route_effect.ts";
import { RouteInfoManager } from "./route_info_manager.ts";

/** What a name server needs from outside. */
export interface NamesrvPorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly serverTls?: ServerTls | undefined;
  readonly clientTls?: TlsSource | undefined;
  /** Opens a JSON file that is replaced as a whole. */
  readonly openJsonFile: (path: string) => JsonTextFile;
}

const TICK_MS = 100;
/** How long `stop` lets answers go out. */
const DRAIN_MS = 1_000;

/** One name server. */
export class NamesrvController implements NamesrvContext {
  readonly routeInfoManager: RouteInfoManager;
  readonly kvConfigManager: KVConfigManager;
  readonly remotingServer: RemotingServer;
  readonly #ports: NamesrvPorts;
  readonly #client: RemotingClient;
  readonly #brokerConnections = new Map<number, RemotingConnection>();
  #options: NamesrvOptions;
  #listener: Listener | undefined;
  #timer: Timer | undefined;
  #startedMs = 0;
  #scannedMs = 0;

  constructor(
    ports: NamesrvPorts,
    options: NamesrvOptions,
    remoting: RemotingServerOptions,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.routeInfoManager = new RouteInfoManager(options);
    this.kvConfigManager = new KVConfigManager(
      options.kvConfigPath === ""
        ? undefined
        : ports.openJsonFile(options.kvConfigPath),
      options.kvConfigEntriesMax,
    );
    this.#client = new RemotingClient(ports, DEFAULT_REMOTING_CLIENT_OPTIONS);
    this.remotingServer = new RemotingServer(
      ports,
      remoting,
      new Map([
        ...brokerProcessors(this),
        ...routeProcessors(this),
        ...topicProcessors(this),
        ...configProcessors(this),
      ]),
      { onClosed: (it) => this.#onClosed(it) },
    );
  }

  get options(): NamesrvOptions {
    return this.#options;
  }

  get startedMs(): number {
    return this.#startedMs;
  }

  nowMs(): number {
    return Math.floor(this.#ports.clock.monotonicMs());
  }

  /** The bound port; only after `start`. */
  get listener(): Listener {
    if (this.#listener === undefined) {
      throw new Error("Cannot name the listener: the name server is down");
    }
    return this.#listener;
  }

  /** Loads the KV table and binds; rejects as `Network.listen` does. */
  async start(): Promise<void> {
    this.kvConfigManager.load();
    this.#startedMs = this.nowMs();
    this.#listener = await this.remotingServer.listen({
      hostname: this.#options.bindAddress,
      port: this.#options.listenPort,
    });
    // What 319 shows is the port in force, also when any was asked for.
    this.#options = { ...this.#options, listenPort: this.#listener.port };
    this.#timer = this.#ports.clock.every(TICK_MS, () => this.#tick());
  }

  /** Stops accepting, lets answers go out and closes. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.remotingServer.stop(DRAIN_MS);
    await this.#client.close();
  }

  /** Takes options that can change while running. */
  reconfigure(options: NamesrvOptions): void {
    this.#options = options;
    this.routeInfoManager.reconfigure(options);
  }

  onBrokerConnection(connection: RemotingConnection): void {
    if (connection.isOpen) {
      this.#brokerConnections.set(connection.id, connection);
    }
  }

  perform(effects: readonly RouteEffect[]): void {
    for (const effect of effects) this.#performOne(effect);
  }

  #performOne(effect: RouteEffect): void {
    if (effect.kind === "log") {
      this.#ports.logger[effect.level](effect.message);
    } else if (effect.kind === "closeConnection") {
      this.#brokerConnections.get(effect.connectionId)?.close();
    } else {
      const request = createRequest(
        RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE,
        encodeNotifyMinBrokerIdHeader(effect.header),
      );
      this.#client.invokeOneway(effect.brokerAddr, request).catch((error) =>
        this.#ports.logger.warn("Cannot tell a broker its smallest id", {
          brokerAddr: effect.brokerAddr,
          error,
        })
      );
    }
  }

  #tick(): void {
    this.remotingServer.tick(this.#ports.clock.nowMs());
    this.#client.tick(this.#ports.clock.nowMs());
    const nowMs = this.nowMs();
    const sinceScanMs = nowMs - this.#scannedMs;
    if (sinceScanMs < this.#options.scanNotActiveBrokerInterval) return;
    this.#scannedMs = nowMs;
    this.perform(this.routeInfoManager.scanNotActiveBroker(nowMs));
  }

  #onClosed(connection: RemotingConnection): void {
    this.#brokerConnections.delete(connection.id);
    this.perform(this.routeInfoManager.onConnectionClosed(connection.id));
  }
}
