/** DenoConnection: one TCP connection over a Deno.TcpConn. */
import type { Connection, ConnectionEvents } from "../io/network.ts";
import { addressText } from "./address.ts";

const READ_BUFFER_SIZE = 64 * 1024;

/** How long a closing connection may take to send what it holds. */
const CLOSE_MAX_MS = 1000;

/** Queued pieces up to this size are sent by one write. */
const JOINED_SIZE_MAX = 1024 * 1024;

function textOf(address: Deno.NetAddr): string {
  return addressText(address.hostname, address.port);
}

/**
 * Invariants
 * - `#queue` holds copies and what is lent; with the piece being sent they are `#queuedBytes`.
 * - `onClose` is called once, by the read loop, and nothing after it.
 */
export class DenoConnection implements Connection {
  readonly localAddress: string;
  readonly remoteAddress: string;
  readonly #conn: Deno.TcpConn;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #isSending = false;
  #state: "open" | "closing" | "closed" = "open";
  #failure: string | null = null;
  #onDrain: () => void = () => {};
  /** Set while paused; resolved by `resume`. */
  #gate: PromiseWithResolvers<void> | undefined;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(conn: Deno.TcpConn) {
    this.#conn = conn;
    conn.setNoDelay(true);
    conn.setKeepAlive(true);
    this.localAddress = textOf(conn.localAddr);
    this.remoteAddress = textOf(conn.remoteAddr);
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  write(bytes: Uint8Array, isLent = false): number {
    if (this.#state !== "open") return 0;
    if (bytes.length === 0) return this.#queuedBytes;
    this.#queue.push(isLent ? bytes : bytes.slice());
    this.#queuedBytes += bytes.length;
    if (!this.#isSending) void this.#send();
    return this.#queuedBytes;
  }

  pause(): void {
    if (this.#state === "open") this.#gate ??= Promise.withResolvers<void>();
  }

  resume(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  close(): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.resume(); // Else the peer's end would not be seen.
    this.#closeTimer = setTimeout(() => this.#destroy(), CLOSE_MAX_MS);
    if (!this.#isSending) void this.#shutdown();
  }

  terminate(): void {
    if (this.#state === "closed") return;
    this.#state = "closing";
    this.#destroy();
  }

  /** Reads until the end; resolves after `onClose`. */
  async run(events: ConnectionEvents): Promise<void> {
    this.#onDrain = () => events.onDrain();
    let reason: string | null = null;
    try {
      await this.#read(events);
    } catch (error) {
      // Once we are closing, the end is ours.
      if (this.#state === "open") reason = messageOf(error);
    }
    this.#destroy();
    events.onClose(this.#failure ?? reason);
  }

  async #read(events: ConnectionEvents): Promise<void> {
    const buffer = new Uint8Array(READ_BUFFER_SIZE);
    for (;;) {
      await this.#resumed();
      const count = await this.#conn.read(buffer);
      if (count === null) return;
      await this.#resumed();
      if (this.#state !== "open") continue;
      this.#guard(() => events.onData(buffer.subarray(0, count)));
    }
  }

  async #resumed(): Promise<void> {
    while (this.#gate) await this.#gate.promise;
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    try {
      while (this.#queue.length > 0) {
        const piece = this.#takePiece();
        for (let sent = 0; sent < piece.length;) {
          const count = await this.#conn.write(piece.subarray(sent));
          sent += count;
          this.#queuedBytes -= count;
        }
      }
    } catch (error) {
      if (this.#state === "open") this.#failure = messageOf(error);
      this.terminate();
    } finally {
      this.#isSending = false;
    }
    if (this.#state === "open") this.#guard(this.#onDrain);
    else await this.#shutdown();
  }

  /** What the next write sends: small pieces joined, since a call costs 10 us. */
  #takePiece(): Uint8Array {
    let size = 0;
    let count = 0;
    for (const piece of this.#queue) {
      if (count > 0 && size + piece.length > JOINED_SIZE_MAX) break;
      size += piece.length;
      count++;
    }
    const pieces = this.#queue.splice(0, count);
    if (pieces.length === 1) return pieces[0]!;
    const joined = new Uint8Array(size);
    let position = 0;
    for (const piece of pieces) {
      joined.set(piece, position);
      position += piece.length;
    }
    return joined;
  }

  async #shutdown(): Promise<void> {
    if (this.#state !== "closing") return;
    try {
      await this.#conn.closeWrite();
    } catch {
      this.#destroy(); // The peer has gone already.
    }
  }

  #destroy(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    clearTimeout(this.#closeTimer);
    this.#queue = [];
    this.#queuedBytes = 0;
    this.resume();
    this.#conn.close();
  }

  /** A listener that throws loses its connection, not the process. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#failure = messageOf(error);
      this.terminate();
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
