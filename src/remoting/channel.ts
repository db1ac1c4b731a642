/** Channel: one remoting connection, whoever opened it. */
import type { Connection, ConnectionEvents } from "../io/network.ts";
import {
  parseSocketAddress,
  type SocketAddress,
} from "../model/socket_address.ts";
import { FrameDecoder } from "../protocol/frame_decoder.ts";
import { FrameError } from "../protocol/frame_error.ts";
import {
  isResponse,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { decodeCommand } from "../protocol/remoting_command_codec.ts";
import {
  ChannelWatch,
  overdueReason,
  type WatchedChannel,
} from "./channel_watch.ts";
import {
  FOREIGN_HEAD_SIZE,
  likelyProtocol,
  UNKNOWN_PROTOCOL,
} from "../base/foreign_protocol.ts";
import { Outbox } from "./outbox.ts";
import { type OutgoingHost, OutgoingRequests } from "./outgoing_requests.ts";
import {
  PAUSED_BY_IN_FLIGHT,
  PAUSED_BY_WRITE_QUEUE,
  ReadGate,
} from "./read_gate.ts";
import { type DispatchHost, RequestDispatcher } from "./request_dispatcher.ts";
import type { RemotingConnection } from "./request_processor.ts";
import type { WriterPool } from "./writer_pool.ts";

/** What the channels of one server or client share. */
export interface ChannelHost extends DispatchHost, OutgoingHost {
  readonly idleTimeMs: number;
  /** True: what is queued for the peer are answers to its own requests. */
  readonly isServer: boolean;
  readonly writers: WriterPool;
  onChannelClosed(channel: Channel): void;
  /** The bytes that a channel holds have changed by `delta`. */
  onBuffered(delta: number): void;
  /** A request was answered, or queued bytes have gone out. */
  onProgress(): void;
}

const NOTHING = new Uint8Array(0);
const NO_HOST: SocketAddress = { address: new Uint8Array(4), port: 0 };

let lastId = 0;

/** Decodes, dispatches and answers; keeps the limits of one connection. */
export class Channel
  implements RemotingConnection, ConnectionEvents, WatchedChannel {
  readonly id = ++lastId;
  readonly #host: ChannelHost;
  readonly #decoder: FrameDecoder;
  readonly #dispatcher: RequestDispatcher;
  readonly #outbox: Outbox;
  readonly #outgoing: OutgoingRequests;
  readonly #watch: ChannelWatch;
  readonly #gate = new ReadGate(() => this.#read(NOTHING));
  #connection: Connection | null = null;
  #remoteAddress: string;
  #remoteHost: SocketAddress | null = null;
  /** What comes before the first frame and is not complete. */
  #entering: string | null = null;
  #isOpen = true;
  #isClosed = false;
  #isTerminated = false;
  /** What was wrong with it; null: nothing that is known here. */
  #closedWhy: string | null = null;
  #frames = 0;
  #bufferedBytes = 0;
  #receivedMs = 0;
  #readMs = 0;

  constructor(host: ChannelHost, remoteAddress: string) {
    const { options, clock } = host;
    this.#host = host;
    this.#remoteAddress = remoteAddress;
    this.#decoder = new FrameDecoder(options.frameMaxLength);
    this.#outbox = new Outbox(
      host.writers,
      host.counters,
      () => this.#onFlushed(),
    );
    this.#dispatcher = new RequestDispatcher(
      this,
      host,
      this.#outbox,
      () => this.#onAnswered(),
    );
    this.#outgoing = new OutgoingRequests(this, host, this.#outbox);
    this.#watch = new ChannelWatch(clock.monotonicMs());
  }

  get remoteAddress(): string {
    return this.#remoteAddress;
  }

  get remoteHost(): SocketAddress {
    return this.#remoteHost ??= parseSocketAddress(this.remoteAddress) ??
      NO_HOST;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** False while a client still connects. */
  get isAttached(): boolean {
    return this.#connection !== null;
  }

  /** True while a request that is not held, or an answer, is on its way. */
  get isBusy(): boolean {
    const { inFlight, held } = this.#dispatcher;
    return this.#isOpen && (inFlight > held || !this.#outbox.isEmpty);
  }

  get frames(): number {
    return this.#frames;
  }

  get pendingBytes(): number {
    return this.#decoder.pendingBytes;
  }

  get sentBytes(): number {
    return this.#outbox.sentBytes;
  }

  get queuedBytes(): number {
    return this.#outbox.queuedBytes;
  }

  /** Bytes of an incomplete frame and of unsent answers, as last reported. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  get isWaiting(): boolean {
    return this.#outgoing.isWaiting;
  }

  /** Also called again, when encryption begins. */
  attach(connection: Connection): void {
    this.#connection = connection;
    this.#gate.attach(connection);
    this.#outbox.attach(connection);
  }

  /** A load balancer has said whose connection this is. */
  proxyFor(remoteAddress: string): void {
    this.#remoteAddress = remoteAddress;
    this.#remoteHost = null;
  }

  /** Bytes came of what stands before the first frame: it has the same time. Null: it is through. */
  enter(what: string | null): void {
    this.#entering = what;
    const nowMs = this.#host.clock.monotonicMs();
    this.#watch.touch(nowMs);
    if (what === null) this.#watch.complete();
    else this.#watch.partial(nowMs, false);
  }

  /** Says why a connection has no future; ending it is the caller's. */
  reject(kind: string, why: string): void {
    this.#host.counters.junkCloses++;
    this.#warn(kind, why);
  }

  invoke(
    request: RemotingCommand,
    timeoutMs: number,
  ): Promise<RemotingCommand> {
    return this.#outgoing.invoke(request, timeoutMs, this.#isOpen);
  }

  /** Throws `RangeError` when the frame would be too large. */
  invokeOneway(request: RemotingCommand): void {
    if (this.#isOpen) this.#outgoing.invokeOneway(request);
  }

  /** Why a request cannot be sent now, or null. */
  refusalOf(request: RemotingCommand): Error | null {
    return this.#outgoing.refusalOf(request, this.#isOpen);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#outbox.flush();
    this.#isOpen = false;
    this.#connection?.close();
  }

  /** Closes at once, dropping what is queued. */
  terminate(): void {
    this.#isOpen = false;
    this.#connection?.terminate();
    // Memory is given back now: that the connection has ended may be told only later.
    this.#isTerminated = true;
    this.#decoder.clear();
    this.#reportBuffered();
  }

  onData(bytes: Uint8Array): void {
    this.#host.counters.bytesIn += bytes.length;
    this.#read(bytes);
  }

  onDrain(): void {
    this.#watch.touch(this.#host.clock.monotonicMs());
    this.#reportBuffered();
    this.#gate.resume(PAUSED_BY_WRITE_QUEUE);
    this.#host.onProgress();
  }

  onClose(_reason: string | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isOpen = false;
    this.#outbox.close();
    this.#outgoing.close(this.#closedWhy);
    this.#reportBuffered();
    this.#host.onChannelClosed(this);
  }

  /** Checks the time limits; `nowMs` is monotonic. */
  tick(nowMs: number): void {
    const lastSentMs = this.#outgoing.expire(nowMs);
    if (!this.#isOpen) return;
    const { options, counters, idleTimeMs, isServer } = this.#host;
    // Nothing at all came since that request: the path is dead, perhaps
    // without a word from TCP, and the next request needs a new connection.
    if (!isServer && lastSentMs > this.#readMs) {
      counters.timeoutCloses++;
      return this.terminate();
    }
    const overdue = this.#watch.check(nowMs, this, options, idleTimeMs);
    if (overdue === null) return;
    counters.timeoutCloses++;
    const why = overdueReason(overdue, options, this.queuedBytes);
    if (this.#entering !== null) {
      const { firstFrameTimeoutMs } = options;
      this.#warn(
        "entrance",
        `its ${this.#entering} was not complete within ${firstFrameTimeoutMs} ms`,
      );
    } else if (overdue === "first-frame") {
      const head = this.#decoder.peek(FOREIGN_HEAD_SIZE);
      this.#warn(overdue, `${why}, perhaps it speaks ${likelyProtocol(head)}`);
    } else if (why !== null) this.#warn(overdue, why);
    this.terminate();
  }

  /** Closes this connection to keep the server within its memory. */
  shed(): void {
    this.#host.counters.timeoutCloses++;
    this.#warn(
      "buffered-bytes",
      `its ${this.#bufferedBytes} bytes are the most when all connections together hold too many (bufferedBytesMax)`,
    );
    this.terminate();
  }

  #read(bytes: Uint8Array): void {
    if (!this.#isOpen) return;
    const nowMs = this.#host.clock.monotonicMs();
    this.#watch.touch(nowMs);
    this.#readMs = nowMs;
    this.#receivedMs = this.#host.clock.nowMs();
    const frames = this.#frames;
    this.#outbox.cork();
    try {
      this.#decoder.push(bytes, this.#onFrame);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#junk(error, this.#frames === 0);
    } finally {
      this.#outbox.uncork();
      this.#dispatcher.endTurn(nowMs);
    }
    if (this.#decoder.pendingBytes === 0 || !this.#gate.isOpen) {
      this.#watch.complete();
    } else this.#watch.partial(nowMs, frames !== this.#frames);
    this.#reportBuffered();
  }

  #reportBuffered(): void {
    const isGone = this.#isClosed || this.#isTerminated;
    const bytes = isGone ? 0 : this.pendingBytes + this.queuedBytes;
    const delta = bytes - this.#bufferedBytes;
    if (delta === 0) return;
    this.#bufferedBytes = bytes;
    this.#host.onBuffered(delta);
  }

  readonly #onFrame = (
    bytes: Uint8Array,
    start: number,
    end: number,
  ): boolean => {
    let command: RemotingCommand;
    try {
      command = decodeCommand(bytes, start, end);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#junk(error, false);
      return false;
    }
    this.#frames++;
    if (isResponse(command)) this.#outgoing.complete(command);
    else {
      this.#dispatcher.dispatch(command, this.#receivedMs, this.#readMs);
      const { inFlightRequestsMax } = this.#host.options;
      if (this.#dispatcher.inFlight >= inFlightRequestsMax) {
        this.#gate.pause(PAUSED_BY_IN_FLIGHT);
      }
    }
    return this.#isOpen && this.#gate.isOpen;
  };

  #onAnswered(): void {
    const { inFlightRequestsMax } = this.#host.options;
    if (this.#dispatcher.inFlight <= inFlightRequestsMax / 2) {
      this.#gate.resume(PAUSED_BY_IN_FLIGHT);
    }
    this.#host.onProgress();
  }

  #onFlushed(): void {
    const { options, clock, counters, isServer } = this.#host;
    // A client that only writes is not idle, and it must go on reading answers
    // while its requests queue up. A server writes to dead peers, too: there
    // only what is read counts, and a queue that shrinks.
    if (!isServer) return this.#watch.touch(clock.monotonicMs());
    const queued = this.#outbox.queuedBytes;
    if (queued > options.writeQueueBytesMax) {
      counters.timeoutCloses++;
      this.#warn("write-queue", `it reads too slowly, ${queued} bytes wait`);
      this.terminate();
    } else if (queued > options.writeQueueBytesHigh) {
      this.#gate.pause(PAUSED_BY_WRITE_QUEUE);
    } else if (queued === 0) {
      // An answer counts as on its way until here: a stop may wait for it.
      this.#host.onProgress();
    }
    this.#reportBuffered();
  }

  /** Closes for bytes that are no frame, or whose header is unreadable. */
  #junk(error: FrameError, isForeign: boolean): void {
    this.#host.counters.junkCloses++;
    if (isForeign) {
      const protocol = likelyProtocol(this.#decoder.peek(FOREIGN_HEAD_SIZE));
      // A line per protocol, so that a scanner's HTTP does not hide a client's TLS.
      this.#warn(
        protocol.startsWith(UNKNOWN_PROTOCOL) ? "junk" : `junk ${protocol}`,
        `it speaks ${protocol}, not the remoting protocol`,
      );
    } else this.#warn("frame", `it sent a broken frame: ${error.message}`);
    if (this.#frames > 0) this.close();
    else this.terminate();
  }

  #warn(kind: string, why: string): void {
    // Whoever waits for an answer is told: it is their line, or their sentence.
    if (!this.#host.isServer && this.isWaiting) {
      this.#closedWhy = why;
      return;
    }
    this.#host.log.warn(
      kind,
      `Closed the connection of ${this.remoteAddress}: ${why}`,
    );
  }
}
