/** TlsConnection: the encrypted side of a connection, over a socket of node:tls. */
import type { TLSSocket } from "node:tls";
import type { Connection, ConnectionEvents } from "../io/network.ts";
import type { HandshakeEvents, SecuredConnection } from "../io/tls.ts";
import type { PlainPipe } from "./plain_pipe.ts";

/** How long a closing connection may take to send what it holds, and to read its last. */
const CLOSE_MAX_MS = 1000;

/** How one end begins. */
export interface TlsStart {
  /** The socket's event after which both ends have what they asked for. */
  readonly securedEvent: "secure" | "secureConnect";
  open(pipe: PlainPipe): TLSSocket;
  /** Why the peer is not accepted, or null. */
  refusalOf(socket: TLSSocket): string | null;
}

/**
 * Invariants
 * - `#pendingBytes` are plain bytes that node:tls has not encrypted: copies or lent ones.
 * - `onClose` follows the plain connection's, is called once, and nothing after it.
 * - The handshake is told of one end at most.
 * - The socket is fed and destroyed in a later turn than the one that made it: Deno begins it in
 *   a tick of its own, and a socket that is gone by then ends the process.
 */
export class TlsConnection implements SecuredConnection {
  readonly localAddress: string;
  readonly remoteAddress: string;
  readonly plainEvents: ConnectionEvents;
  readonly #plain: Connection;
  readonly #pipe: PlainPipe;
  readonly #socket: TLSSocket;
  readonly #events: ConnectionEvents;
  readonly #handshake: HandshakeEvents;
  #pendingBytes = 0;
  #isDrainOwed = false;
  /** Decrypted while paused. */
  #held: Uint8Array[] = [];
  #isPaused = false;
  #isSecured = false;
  #state: "open" | "closing" | "closed" = "open";
  #failure: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What to do once the socket has begun; null: it has. */
  #waiting: (() => void)[] | null = [];

  constructor(
    plain: Connection,
    pipe: PlainPipe,
    start: TlsStart,
    events: ConnectionEvents,
    handshake: HandshakeEvents,
  ) {
    this.#plain = plain;
    this.#pipe = pipe;
    this.#events = events;
    this.#handshake = handshake;
    this.localAddress = plain.localAddress;
    this.remoteAddress = plain.remoteAddress;
    this.plainEvents = {
      onData: (bytes) => this.#receive(bytes),
      onDrain: () => this.#onPlainDrain(),
      onClose: (reason) => this.#onPlainClose(reason),
    };
    this.#socket = start.open(pipe);
    this.#listen(start);
    setImmediate(() => {
      const waiting = this.#waiting!;
      this.#waiting = null;
      for (const run of waiting) run();
    });
  }

  get queuedBytes(): number {
    if (this.#state === "closed") return 0;
    return this.#pendingBytes + this.#plain.queuedBytes;
  }

  write(bytes: Uint8Array, isLent = false): number {
    if (this.#state !== "open") return 0;
    if (bytes.length === 0) return this.queuedBytes;
    const own = isLent ? bytes : bytes.slice();
    this.#pendingBytes += own.length;
    this.#isDrainOwed = true;
    this.#socket.write(own, () => {
      this.#pendingBytes -= own.length;
      this.#tellDrain();
    });
    return this.queuedBytes;
  }

  pause(): void {
    if (this.#state !== "open") return;
    this.#isPaused = true;
    this.#plain.pause();
  }

  resume(): void {
    if (this.#state !== "open" || !this.#isPaused) return;
    this.#isPaused = false;
    while (this.#held.length > 0 && !this.#isPaused) {
      this.#deliver(this.#held.shift()!);
    }
    if (!this.#isPaused) this.#plain.resume();
  }

  close(): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#held = [];
    this.#plain.resume(); // Else the peer's end would not be seen.
    if (!this.#isSecured) return this.#plain.close(); // Nothing can go out.
    this.#timer = setTimeout(() => this.terminate(), CLOSE_MAX_MS);
    // What is pending first; then the pipe closes the plain one.
    this.#onceBegun(() => this.#socket.end());
  }

  terminate(): void {
    if (this.#state === "closed") return;
    this.#state = "closing";
    this.#drop();
    this.#plain.terminate();
  }

  #receive(bytes: Uint8Array): void {
    if (this.#waiting === null) return this.#pipe.receive(bytes);
    const own = bytes.slice();
    this.#waiting.push(() => this.#pipe.receive(own));
  }

  #onceBegun(run: () => void): void {
    if (this.#waiting === null) run();
    else this.#waiting.push(run);
  }

  #listen(start: TlsStart): void {
    const socket = this.#socket;
    socket.on(start.securedEvent, () => this.#onSecured(start));
    socket.on("data", (bytes: Uint8Array) => this.#onData(bytes));
    socket.on("end", () => this.#onEnd());
    socket.on("error", (error: Error) => this.#onError(error));
    socket.on("close", () => this.#onEnd());
    this.#pipe.on("error", (error: Error) => this.#onError(error));
  }

  #onSecured(start: TlsStart): void {
    if (this.#state !== "open" || this.#isSecured) return;
    const refusal = start.refusalOf(this.#socket);
    if (refusal !== null) return this.#refuse(refusal);
    this.#isSecured = true;
    this.#guard(() => this.#handshake.onSecured());
  }

  #onData(bytes: Uint8Array): void {
    if (this.#state !== "open" || !this.#isSecured) return;
    if (this.#isPaused) this.#held.push(bytes);
    else this.#deliver(bytes);
  }

  #deliver(bytes: Uint8Array): void {
    if (this.#state !== "open") return;
    this.#guard(() => this.#events.onData(bytes));
  }

  /** The peer has said that it sends no more, or nothing is left to read. */
  #onEnd(): void {
    if (this.#plainEnd !== undefined) this.#finish();
    else if (this.#state === "open") this.#plain.close();
  }

  #onError(error: Error): void {
    if (this.#plainEnd !== undefined) return this.#finish();
    if (this.#state !== "open") return;
    if (!this.#isSecured) return this.#refuse(error.message);
    this.#fail(error);
  }

  /** Ends a connection that never was one; an alert may still go out. */
  #refuse(reason: string): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#handshake.onFailed(reason);
    this.#plain.close();
  }

  #onPlainDrain(): void {
    this.#pipe.onDrain();
    this.#tellDrain();
  }

  #tellDrain(): void {
    if (!this.#isDrainOwed || this.#state !== "open") return;
    if (this.queuedBytes > 0) return;
    this.#isDrainOwed = false;
    this.#guard(() => this.#events.onDrain());
  }

  /** Why the plain connection has ended; undefined while it has not. */
  #plainEnd: string | null | undefined;

  /** What was received last is still to be decrypted. */
  #onPlainClose(reason: string | null): void {
    this.#plainEnd = reason;
    clearTimeout(this.#timer);
    if (this.#state !== "open" || !this.#isSecured) return this.#finish();
    this.#timer = setTimeout(() => this.#finish(), CLOSE_MAX_MS);
    this.#onceBegun(() => this.#pipe.receiveEnd());
  }

  #finish(): void {
    if (this.#state === "closed") return;
    const isOwn = this.#state === "closing" && this.#failure === null;
    this.#state = "closed";
    clearTimeout(this.#timer);
    this.#drop();
    this.#events.onClose(isOwn ? null : this.#failure ?? this.#plainEnd!);
  }

  #drop(): void {
    this.#held = [];
    this.#pendingBytes = 0;
    this.#onceBegun(() => {
      this.#socket.destroy();
      this.#pipe.destroy();
    });
  }

  /** A listener that throws loses its connection, not the process. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure = error instanceof Error ? error.message : String(error);
    this.terminate();
  }
}
