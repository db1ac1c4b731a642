/** RemotingServer: answers requests on one or more ports. */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type {
  Connection,
  ConnectionEvents,
  Endpoint,
  Listener,
  Network,
} from "../io/network.ts";
import { AddressBlocks } from "../model/address_blocks.ts";
import { Channel, type ChannelHost } from "./channel.ts";
import { Entrance, type EntranceRules } from "./entrance/entrance.ts";
import type { ServerTls } from "./entrance/tls_ports.ts";
import { LogLimiter } from "./log_limiter.ts";
import { RemotingCounters } from "./remoting_counters.ts";
import type { RemotingServerOptions } from "./remoting_options.ts";
import type {
  ProcessorTable,
  RemotingConnection,
} from "./request_processor.ts";
import { WriterPool } from "./writer_pool.ts";

/** The outside world of remoting. */
export interface RemotingPorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Also what of TLS it offers; absent: plain text only. */
export interface RemotingServerPorts extends RemotingPorts {
  readonly serverTls?: ServerTls | undefined;
}

/** What the owner of a server is told. */
export interface RemotingServerEvents {
  onOpened?(connection: RemotingConnection): void;
  /** Called exactly once per opened connection. */
  onClosed(connection: RemotingConnection): void;
}

/** What closing a connection may take. */
const CLOSE_TIME_MS = 1500;

const REFUSED: ConnectionEvents = Object.freeze({
  onData() {},
  onDrain() {},
  onClose() {},
});

/** Accepts connections, hands requests to processors, writes their answers. */
export class RemotingServer implements ChannelHost {
  readonly isServer = true;
  readonly clock: Clock;
  #options: RemotingServerOptions;
  readonly processors: ProcessorTable;
  readonly counters = new RemotingCounters();
  readonly log: LogLimiter;
  readonly writers = new WriterPool();
  readonly #network: Network;
  /** Null: connections begin with a frame. */
  readonly #entrance: EntranceRules | null;
  readonly #events: RemotingServerEvents;
  readonly #channels = new Set<Channel>();
  readonly #listeners: Listener[] = [];
  #isStopping = false;
  #bufferedBytes = 0;
  /** Set while `stop` waits. */
  #onProgress: (() => void) | null = null;

  constructor(
    ports: RemotingServerPorts,
    options: RemotingServerOptions,
    processors: ProcessorTable,
    events: RemotingServerEvents,
  ) {
    this.#network = ports.network;
    this.clock = ports.clock;
    this.log = new LogLimiter(ports.logger, ports.clock);
    this.#options = options;
    this.processors = processors;
    this.#events = events;
    const tls = ports.serverTls ?? null;
    const proxyPeers = new AddressBlocks(options.proxyProtocolPeers);
    this.#entrance = tls === null && proxyPeers.isEmpty
      ? null
      : { tls, proxyPeers };
  }

  get options(): RemotingServerOptions {
    return this.#options;
  }

  /** Takes new limits; `frameMaxLength` counts for connections made from now on. */
  reconfigure(options: RemotingServerOptions): void {
    this.#options = options;
  }

  get idleTimeMs(): number {
    return this.options.serverChannelMaxIdleTimeMs;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Bytes of incomplete frames and of unsent answers, over all connections. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  get connectionCount(): number {
    return this.#channels.size;
  }

  /** Open connections. */
  get connections(): Iterable<RemotingConnection> {
    return this.#channels;
  }

  /** Binds one more port. Rejects as `Network.listen` does. */
  async listen(at: Endpoint): Promise<Listener> {
    const listener = await this.#network.listen(
      at,
      (connection) => this.#accept(connection),
    );
    this.#listeners.push(listener);
    return listener;
  }

  /**
   * Checks the time limits of every connection; call it every 100 ms. Time is
   * taken from the monotonic clock: a jump of the wall clock closes nothing.
   */
  tick(_nowMs?: number): void {
    const nowMs = this.clock.monotonicMs();
    for (const channel of this.#channels) channel.tick(nowMs);
  }

  /**
   * Refuses new connections and requests, gives those in progress `drainMs`,
   * then closes everything. Held requests are not waited for.
   */
  async stop(drainMs: number): Promise<void> {
    await this.pause(drainMs);
    await Promise.all(this.#listeners.splice(0).map((it) => it.close()));
  }

  /** As `stop`, but the ports stay bound; until `resume` new connections are reset. */
  async pause(drainMs: number): Promise<void> {
    this.#isStopping = true;
    await this.#until(() => !this.#isBusy(), drainMs);
    for (const channel of this.#channels) channel.close();
    await this.#until(() => this.#channels.size === 0, CLOSE_TIME_MS);
    for (const channel of this.#channels) channel.terminate();
  }

  /** Takes connections again after `pause`. */
  resume(): void {
    this.#isStopping = false;
  }

  onChannelClosed(channel: Channel): void {
    this.#channels.delete(channel);
    this.counters.connectionsClosed++;
    this.#events.onClosed(channel);
    this.onProgress();
  }

  onBuffered(delta: number): void {
    this.#bufferedBytes += delta;
    if (delta <= 0) return;
    while (this.#bufferedBytes > this.#options.bufferedBytesMax) {
      if (!this.#shed()) break;
    }
  }

  onProgress(): void {
    this.#onProgress?.();
  }

  /** Waits until `condition` holds, at most `timeMs`. */
  async #until(condition: () => boolean, timeMs: number): Promise<void> {
    if (condition()) return;
    const done = Promise.withResolvers<void>();
    this.#onProgress = () => condition() && done.resolve();
    const deadline = this.clock.after(timeMs, () => done.resolve());
    await done.promise;
    deadline.cancel();
    this.#onProgress = null;
  }

  /** Closes the connection that holds most; false when none holds anything. */
  #shed(): boolean {
    let largest: Channel | null = null;
    for (const channel of this.#channels) {
      if (channel.bufferedBytes > (largest?.bufferedBytes ?? 0)) {
        largest = channel;
      }
    }
    largest?.shed();
    return largest !== null;
  }

  #isBusy(): boolean {
    for (const channel of this.#channels) if (channel.isBusy) return true;
    return false;
  }

  #accept(connection: Connection): ConnectionEvents {
    const { connectionsMax } = this.options;
    if (this.#isStopping || this.#channels.size >= connectionsMax) {
      this.counters.connectionsRefused++;
      if (!this.#isStopping) {
        this.log.warn(
          "connections-max",
          `Refused a connection of ${connection.remoteAddress}: ${connectionsMax} are open (connectionsMax)`,
        );
      }
      connection.terminate();
      return REFUSED;
    }
    const channel = new Channel(this, connection.remoteAddress);
    this.#channels.add(channel);
    this.counters.connectionsOpened++;
    channel.attach(connection);
    this.#events.onOpened?.(channel);
    return this.#entrance === null
      ? channel
      : new Entrance(connection, channel, this.#entrance);
  }
}
