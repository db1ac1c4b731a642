/** RemotingClient: one connection per address, made when first needed. */
import type { Clock } from "../io/clock.ts";
import type { Connection, ConnectionEvents, Endpoint } from "../io/network.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import { signRequest } from "../protocol/request_signature.ts";
import { Channel, type ChannelHost } from "./channel.ts";
import { LogLimiter } from "./log_limiter.ts";
import { RemotingCounters } from "./remoting_counters.ts";
import {
  connectFailure,
  RemotingConnectError,
  RemotingTimeoutError,
} from "./remoting_errors.ts";
import type { RemotingClientOptions } from "./remoting_options.ts";
import { secureConnect } from "./entrance/secure_connect.ts";
import type { TlsSource } from "./entrance/tls_ports.ts";
import type { RemotingPorts } from "./remoting_server.ts";
import type { ProcessorTable } from "./request_processor.ts";
import { WriterPool } from "./writer_pool.ts";

/** Also how its connections are encrypted; absent: they are not. */
export interface RemotingClientPorts extends RemotingPorts {
  readonly clientTls?: TlsSource | undefined;
}

const NO_PROCESSORS: ProcessorTable = new Map();

/** An attempt to connect that has not ended. */
interface Attempt {
  readonly channel: Promise<Channel>;
  readonly deadlineMs: number;
  readonly giveUp: (why: string) => void;
}

/** A request that waits for its connection; its own time may end first. */
interface Waiting {
  readonly deadlineMs: number;
  readonly giveUp: () => void;
}

/** Sends requests to any address and waits for their answers. */
export class RemotingClient implements ChannelHost {
  readonly isServer = false;
  readonly clock: Clock;
  readonly options: RemotingClientOptions;
  readonly processors: ProcessorTable;
  readonly counters = new RemotingCounters();
  readonly log: LogLimiter;
  readonly writers = new WriterPool();
  readonly isStopping = false;
  /** Called after an established connection has ended. */
  onClosed: ((address: string) => void) | null = null;
  readonly #ports: RemotingClientPorts;
  readonly #channels = new Map<string, Channel>();
  readonly #attempts = new Map<string, Attempt>();
  readonly #waiting = new Set<Waiting>();
  #isClosed = false;
  #onAllClosed: (() => void) | null = null;

  /** `processors` answer requests that the peers send over our connections. */
  constructor(
    ports: RemotingClientPorts,
    options: RemotingClientOptions,
    processors: ProcessorTable = NO_PROCESSORS,
  ) {
    this.#ports = ports;
    this.clock = ports.clock;
    this.log = new LogLimiter(ports.logger, ports.clock);
    this.options = options;
    this.processors = processors;
  }

  get idleTimeMs(): number {
    return this.options.channelMaxIdleTimeMs;
  }

  get connectionCount(): number {
    return this.#channels.size;
  }

  /**
   * Sends `request` to `address` (`host:port`) and waits for the answer,
   * connecting first when there is no connection. Rejects with
   * `RemotingConnectError`, `RemotingTimeoutError`, `RemotingClosedError` or
   * `RemotingTooMuchRequestError`; with `RangeError` when the frame is too large.
   */
  invoke(
    address: string,
    request: RemotingCommand,
    timeoutMs: number,
  ): Promise<RemotingCommand> {
    this.#sign(request);
    const channel = this.#channels.get(address);
    if (channel !== undefined && channel.isOpen) {
      return channel.invoke(request, timeoutMs);
    }
    return this.#connectAndInvoke(address, request, timeoutMs);
  }

  /** Sends `request` without waiting for anything but the connection. Rejects as `invoke`. */
  async invokeOneway(address: string, request: RemotingCommand): Promise<void> {
    this.#sign(request);
    const known = this.#channels.get(address);
    const channel = known?.isOpen ? known : await this.#connect(address);
    const refusal = channel.refusalOf(request);
    if (refusal !== null) throw refusal;
    channel.invokeOneway(request);
  }

  /** Checks the time limits; call it every 100 ms. Time is monotonic, as in RemotingServer. */
  tick(_nowMs?: number): void {
    const nowMs = this.clock.monotonicMs();
    for (const attempt of this.#attempts.values()) {
      if (nowMs >= attempt.deadlineMs) attempt.giveUp("connection timed out");
    }
    for (const it of [...this.#waiting]) {
      if (nowMs >= it.deadlineMs) it.giveUp();
    }
    for (const channel of this.#channels.values()) channel.tick(nowMs);
  }

  /** Ends every connection; what still waits for an answer is rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const attempt of [...this.#attempts.values()]) {
      attempt.giveUp("the client is closed");
    }
    const allClosed = Promise.withResolvers<void>();
    this.#onAllClosed = () => allClosed.resolve();
    for (const channel of [...this.#channels.values()]) channel.close();
    if (this.#channels.size > 0) await allClosed.promise;
  }

  onChannelClosed(channel: Channel): void {
    // Before that, the attempt to connect fails by itself.
    if (!channel.isAttached) return;
    const address = channel.remoteAddress;
    this.counters.connectionsClosed++;
    if (this.#channels.get(address) === channel) this.#channels.delete(address);
    if (this.#channels.size === 0) this.#onAllClosed?.();
    this.onClosed?.(address);
  }

  onBuffered(_delta: number): void {
    // A client bounds each connection, and it chooses whom it connects to.
  }

  onProgress(): void {
    // Nothing waits for the end of requests in progress.
  }

  #sign(request: RemotingCommand): void {
    const { credentials } = this.options;
    if (credentials !== undefined) signRequest(request, credentials);
  }

  async #connectAndInvoke(
    address: string,
    request: RemotingCommand,
    timeoutMs: number,
  ): Promise<RemotingCommand> {
    const deadlineMs = this.clock.monotonicMs() + timeoutMs;
    const { promise, resolve, reject } = Promise.withResolvers<Channel>();
    const waiting: Waiting = {
      deadlineMs,
      giveUp: () =>
        reject(new RemotingTimeoutError(address, request.code, timeoutMs)),
    };
    this.#waiting.add(waiting);
    this.#connect(address).then(resolve, reject);
    const channel = await promise.finally(() => this.#waiting.delete(waiting));
    const leftMs = deadlineMs - this.clock.monotonicMs();
    return channel.invoke(request, Math.max(1, leftMs));
  }

  #connect(address: string): Promise<Channel> {
    const running = this.#attempts.get(address);
    if (running !== undefined) return running.channel;
    const at = parseEndpoint(address);
    if (this.#isClosed || at === undefined) {
      const why = this.#isClosed
        ? "the client is closed"
        : "it is not of the form host:port";
      return Promise.reject(new RemotingConnectError(address, why));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Channel>();
    const attempt: Attempt = {
      channel: promise,
      deadlineMs: this.clock.monotonicMs() + this.options.connectTimeoutMs,
      giveUp: (why) => {
        if (this.#attempts.get(address) === attempt) {
          this.#attempts.delete(address);
        }
        reject(new RemotingConnectError(address, why));
      },
    };
    this.#attempts.set(address, attempt);
    this.#open(address, at, attempt).then(resolve, (error) => {
      attempt.giveUp(connectFailure(error));
    });
    return promise;
  }

  /** Connects; a connection that comes after the attempt was given up is dropped. */
  async #open(
    address: string,
    at: Endpoint,
    attempt: Attempt,
  ): Promise<Channel> {
    const channel = new Channel(this, address);
    let isWanted = true;
    const connection = await this.#dial(at, {
      onData: (bytes) => channel.onData(bytes),
      onDrain: () => channel.onDrain(),
      onClose: (reason) => isWanted && channel.onClose(reason),
    });
    if (this.#attempts.get(address) !== attempt) {
      isWanted = false;
      connection.terminate();
      throw new RemotingConnectError(address, "the attempt was given up");
    }
    this.#attempts.delete(address);
    if (!channel.isOpen) throw new Error("the peer closed the connection");
    this.#channels.set(address, channel);
    this.counters.connectionsOpened++;
    channel.attach(connection);
    return channel;
  }

  #dial(at: Endpoint, events: ConnectionEvents): Promise<Connection> {
    const { clientTls: tls, clock, network } = this.#ports;
    if (tls === undefined) return network.connect(at, events);
    const { connectTimeoutMs } = this.options;
    return secureConnect(
      { network, clock, tls },
      at,
      events,
      connectTimeoutMs,
    );
  }
}

/** Reads `host:port`; IPv6 hosts stand in brackets. */
function parseEndpoint(address: string): Endpoint | undefined {
  const colon = address.lastIndexOf(":");
  const hostname = address.slice(0, Math.max(colon, 0))
    .replace(/^\[(.*)\]$/, "$1");
  const port = Number(address.slice(colon + 1));
  const isValid = hostname !== "" && Number.isInteger(port) && port > 0 &&
    port < 65_536;
  return isValid ? { hostname, port } : undefined;
}
