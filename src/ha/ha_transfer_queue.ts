/**
 * HATransferQueue: what one link has still to send, and the bytes of it.
 *
 * A batch of old data, or a large one, has a buffer of the link's own. There are two: while the
 * kernel takes one batch, the next one is read.
 *
 * Invariants
 * - Batches and heartbeats go out in the order in which they were asked for.
 * - A header and its body go out in one write.
 * - A buffer that is lent to the socket is not touched before the socket holds nothing.
 */
import type { Connection } from "../io/network.ts";
import type { HAConnectionEffect } from "./ha_connection_effect.ts";
import { type AheadLog, LogReadAhead } from "./log_read_ahead.ts";
import {
  TRANSFER_HEADER_SIZE,
  writeTransferHeader,
} from "./transfer_header.ts";

/** Hot bodies up to this size are copied by the socket if it cannot send them at once. */
const COPIED_SIZE_MAX = 65_536;

/** What is sent, in its order. */
export type OutgoingEffect = Extract<
  HAConnectionEffect,
  { kind: "transfer" | "heartbeat" }
>;

export function isOutgoing(
  effect: HAConnectionEffect,
): effect is OutgoingEffect {
  return effect.kind === "transfer" || effect.kind === "heartbeat";
}

/** What the queue works with. */
export interface HATransferPorts {
  readonly connection: Connection;
  readonly log: AheadLog;
  /** `size` bytes that are the caller's until it returns. */
  scratch(size: number): Uint8Array;
  /** The log cannot be read; one sentence. The link must end. */
  onFailed(reason: string): void;
  /** A read off the loop has ended: there may be room for more. */
  onProgress(): void;
}

/** One link's. */
export class HATransferQueue {
  readonly #ports: HATransferPorts;
  readonly #ahead: LogReadAhead;
  #outgoing: OutgoingEffect[] = [];
  /** The one to be filled next comes first. */
  #buffers: [Uint8Array, Uint8Array] = [new Uint8Array(0), new Uint8Array(0)];
  /** The first batch's, once read. */
  #frame: Uint8Array | undefined;
  #isReading = false;
  #isClosed = false;
  #isBulk = false;
  #wasBulk = false;

  constructor(ports: HATransferPorts) {
    this.#ports = ports;
    this.#ahead = new LogReadAhead(ports.log);
  }

  get isEmpty(): boolean {
    return this.#outgoing.length === 0;
  }

  /** True while batches have buffers of their own: more may be asked for before the socket drains. */
  get isBulk(): boolean {
    return this.#isBulk;
  }

  push(effect: OutgoingEffect): void {
    this.#outgoing.push(effect);
  }

  /** Sends what can be sent now; to be called after `push` and when the socket has drained. */
  run(): void {
    while (!this.#isReading && !this.#isClosed) {
      const next = this.#outgoing[0];
      if (next === undefined) return;
      const isSent = next.kind === "heartbeat"
        ? this.#sendHeartbeat(next.phyOffset)
        : this.#sendTransfer(next.phyOffset, next.size);
      if (!isSent) return;
      this.#outgoing.shift();
    }
  }

  /** Every 100 ms or so: gives the buffers back when there is nothing for them. */
  tick(): void {
    const isIdle = !this.#wasBulk && this.isEmpty && !this.#isReading;
    if (isIdle && this.#ports.connection.queuedBytes === 0) {
      this.#isBulk = false;
      this.#buffers = [new Uint8Array(0), new Uint8Array(0)];
      this.#ahead.clear();
    }
    this.#wasBulk = false;
  }

  /** The link has ended. */
  close(): void {
    this.#isClosed = true;
    this.#outgoing = [];
    this.#frame = undefined;
    this.#ahead.clear();
  }

  #sendHeartbeat(phyOffset: number): boolean {
    const frame = this.#ports.scratch(TRANSFER_HEADER_SIZE);
    writeTransferHeader(frame, phyOffset, 0);
    this.#ports.connection.write(frame);
    return true;
  }

  /** False: not yet. */
  #sendTransfer(phyOffset: number, size: number): boolean {
    const { log, connection, scratch } = this.#ports;
    if (size <= COPIED_SIZE_MAX && log.isHot(phyOffset)) {
      const frame = scratch.call(this.#ports, TRANSFER_HEADER_SIZE + size);
      if (!this.#read(phyOffset, size, frame)) return false;
      connection.write(frame);
      return true;
    }
    this.#isBulk = this.#wasBulk = true;
    if (this.#frame === undefined) {
      const frame = this.#buffer(TRANSFER_HEADER_SIZE + size);
      if (!this.#read(phyOffset, size, frame)) return false;
      this.#frame = frame;
    }
    if (connection.queuedBytes > 0) return false; // `run` is called when it is 0.
    connection.write(this.#frame, true);
    this.#frame = undefined;
    this.#buffers.reverse();
    return true;
  }

  /** False: later, or never. */
  #read(phyOffset: number, size: number, frame: Uint8Array): boolean {
    writeTransferHeader(frame, phyOffset, size);
    let read: boolean | Promise<boolean>;
    try {
      const body = frame.subarray(TRANSFER_HEADER_SIZE);
      read = this.#ahead.read(phyOffset, body);
    } catch (error) {
      this.#onReadFailed(phyOffset, error);
      return false;
    }
    if (typeof read === "boolean") {
      if (!read) this.#onGone(phyOffset, size);
      return read;
    }
    this.#isReading = true;
    read.then((isThere) => {
      this.#isReading = false;
      if (this.#isClosed) return;
      if (isThere) this.#frame = frame;
      else this.#onGone(phyOffset, size);
    }, (error: unknown) => {
      this.#isReading = false;
      this.#onReadFailed(phyOffset, error);
    }).then(() => {
      this.run();
      if (!this.#isClosed) this.#ports.onProgress();
    });
    return false;
  }

  #onGone(phyOffset: number, size: number): void {
    this.#ports.onFailed(
      `The log has no ${size} bytes at ${phyOffset} any more`,
    );
  }

  #onReadFailed(phyOffset: number, error: unknown): void {
    if (this.#isClosed) return;
    const why = error instanceof Error ? error.message : String(error);
    this.#ports.onFailed(`Cannot read the log at ${phyOffset}: ${why}`);
  }

  /** The first of the two buffers. */
  #buffer(size: number): Uint8Array {
    if (this.#buffers[0].length < size) this.#buffers[0] = new Uint8Array(size);
    return this.#buffers[0].subarray(0, size);
  }
}
