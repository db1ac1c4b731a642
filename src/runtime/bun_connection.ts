/** BunConnection: one TCP connection over a Bun socket. */
import type { Connection, ConnectionEvents } from "../io/network.ts";
import { addressText } from "./address.ts";

/** How long a closing connection may take to send what it holds. */
const CLOSE_MAX_MS = 1000;

/** Silence after which the kernel asks whether the peer lives. */
const KEEP_ALIVE_MS = 60_000;

const ignore: ConnectionEvents = { onData() {}, onDrain() {}, onClose() {} };

/**
 * Invariants
 * - `#queue` holds `#queuedBytes` bytes that the kernel has not taken; they are copies or
 *   lent: all other bytes are the caller's again as soon as `write` returns.
 * - `onClose` is called once, in a turn of its own, and nothing after it.
 */
export class BunConnection implements Connection {
  readonly localAddress: string;
  readonly remoteAddress: string;
  readonly #socket: Bun.Socket<BunConnection>;
  #events = ignore;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #state: "open" | "closing" | "closed" = "open";
  #failure: string | null = null;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(socket: Bun.Socket<BunConnection>) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.localAddress = addressText(socket.localAddress, socket.localPort);
    this.remoteAddress = addressText(socket.remoteAddress, socket.remotePort);
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  attach(events: ConnectionEvents): void {
    this.#events = events;
  }

  write(bytes: Uint8Array, isLent = false): number {
    if (this.#state !== "open") return 0;
    if (this.#queuedBytes > 0) return this.#keep(bytes, isLent);
    const taken = this.#socket.write(bytes);
    if (taken === bytes.length) return 0;
    // A negative result means that nothing was taken.
    return this.#keep(taken > 0 ? bytes.subarray(taken) : bytes, isLent);
  }

  pause(): void {
    if (this.#state === "open") this.#socket.pause();
  }

  resume(): void {
    if (this.#state === "open") this.#socket.resume();
  }

  close(): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#socket.resume(); // Else the peer's end would not be seen.
    this.#closeTimer = setTimeout(() => this.#destroy(), CLOSE_MAX_MS);
    if (this.#queuedBytes === 0) this.#socket.shutdown();
  }

  terminate(): void {
    if (this.#state === "closed") return;
    this.#state = "closing";
    this.#destroy();
  }

  /** The socket's own events, in the words of Bun. */
  onData(bytes: Uint8Array): void {
    if (this.#state !== "open") return;
    try {
      this.#events.onData(bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  onWritable(): void {
    if (this.#state === "closed" || !this.#flush()) return;
    if (this.#state === "closing") {
      this.#socket.shutdown();
      return;
    }
    try {
      this.#events.onDrain();
    } catch (error) {
      this.#fail(error);
    }
  }

  onEnd(reason: string | null): void {
    if (this.#state === "closed") return;
    const isOwn = this.#state === "closing" && this.#failure === null;
    this.#state = "closed";
    clearTimeout(this.#closeTimer);
    this.#queue = [];
    this.#queuedBytes = 0;
    const told = isOwn ? null : this.#failure ?? reason;
    queueMicrotask(() => this.#events.onClose(told));
  }

  /** Sends what was kept; true when nothing is left. */
  #flush(): boolean {
    while (this.#queue.length > 0) {
      const head = this.#queue[0]!;
      const taken = Math.max(this.#socket.write(head), 0);
      this.#queuedBytes -= taken;
      if (taken < head.length) {
        this.#queue[0] = head.subarray(taken);
        return false;
      }
      this.#queue.shift();
    }
    return true;
  }

  #keep(bytes: Uint8Array, isLent: boolean): number {
    this.#queue.push(isLent ? bytes : bytes.slice());
    this.#queuedBytes += bytes.length;
    return this.#queuedBytes;
  }

  #destroy(): void {
    this.#socket.terminate();
    this.onEnd(null); // Bun need not report an end that we asked for.
  }

  /** A listener that throws loses its connection, not the process. */
  #fail(error: unknown): void {
    this.#failure = error instanceof Error ? error.message : String(error);
    this.terminate();
  }
}
