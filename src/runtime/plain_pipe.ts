/** PlainPipe: a connection as the stream that node:tls works on. */
import { Duplex } from "node:stream";
import type { Connection } from "../io/network.ts";

/** Bytes that the kernel has not taken, from which node:tls has to wait. */
const QUEUED_MAX = 256 * 1024;

/**
 * Carries encrypted bytes between a connection and node:tls. What is read is not held back
 * here: whoever wants less pauses the connection.
 */
export class PlainPipe extends Duplex {
  readonly #plain: Connection;
  #onTaken: (() => void) | null = null;

  constructor(plain: Connection) {
    super({ allowHalfOpen: true });
    this.#plain = plain;
  }

  /** Takes what the connection has received; the bytes are the caller's again at once. */
  receive(bytes: Uint8Array): void {
    if (!this.destroyed) this.push(bytes.slice());
  }

  /** The connection has received its last. */
  receiveEnd(): void {
    if (!this.destroyed) this.push(null);
  }

  /** The connection's queue is empty. */
  onDrain(): void {
    const onTaken = this.#onTaken;
    this.#onTaken = null;
    onTaken?.();
  }

  override _read(): void {}

  override _write(
    chunk: Uint8Array,
    _encoding: unknown,
    onTaken: () => void,
  ): void {
    if (this.#plain.write(chunk) > QUEUED_MAX) this.#onTaken = onTaken;
    else onTaken();
  }

  override _final(onDone: () => void): void {
    this.#plain.close();
    onDone();
  }

  override _destroy(_error: unknown, onDone: () => void): void {
    this.#onTaken = null;
    onDone();
  }
}
