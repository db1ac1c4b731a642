/**
 * HALink: the socket of one slave and the HAConnection that decides what goes over it.
 *
 * Invariants
 * - What is sent goes through `HATransferQueue`, in its order; all other effects are performed
 *   at once, for an ack must not wait until a thin link has taken the next batch.
 * - Nothing new is asked for while something of the last effects has to be sent.
 */
import type { Connection, ConnectionEvents } from "../io/network.ts";
import { type AdmissionAnswer, HAAdmission } from "./ha_admission.ts";
import type { HAConnection } from "./ha_connection.ts";
import type {
  HACloseCause,
  HAConnectionEffect,
  LogBounds,
} from "./ha_connection_effect.ts";
import type { AheadLog } from "./log_read_ahead.ts";
import { HEAD_SIZE } from "./ha_strangers.ts";
import {
  HATransferQueue,
  isOutgoing,
  type OutgoingEffect,
} from "./ha_transfer_queue.ts";

/** What a link needs of its service. */
export interface HALinkHost {
  bounds(): LogBounds;
  monotonicMs(): number;
  readonly log: AheadLog;
  /** Milliseconds of silence after which a link ends. */
  readonly haHousekeepingInterval: number;
  /** Why the slave at that address must not be served; null when it may. */
  admit(addr: string): AdmissionAnswer | Promise<AdmissionAnswer>;
  /** `size` bytes that are the caller's until it returns. */
  scratch(size: number): Uint8Array;
  /** The link is a slave, and has acked more. */
  onAcked(link: HALink): void;
  onState(link: HALink): void;
  /** Called once; `reason` is one sentence. */
  onClosed(link: HALink, reason: string, cause: HACloseCause | null): void;
}

/** One link. */
export class HALink implements ConnectionEvents {
  /** Wall clock, milliseconds. */
  readonly connectedAt: number;
  /** Wall clock, milliseconds; null before the first. */
  lastAckAt: number | null = null;
  /** The first bytes that came, to know a stranger by. */
  head: Uint8Array = new Uint8Array(0);
  /** Begin of what the slave may have; null before its first report. */
  coversFrom: number | null = null;
  /** When the slave acknowledged more than before, or connected; monotonic, milliseconds. */
  lastProgressMs: number;
  readonly #host: HALinkHost;
  readonly #connection: Connection;
  readonly #transfers: HATransferQueue;
  readonly #admission: HAAdmission;
  #lastReadMs: number;
  #isClosed = false;

  constructor(
    host: HALinkHost,
    connection: Connection,
    readonly machine: HAConnection,
    nowMs: number,
  ) {
    this.#host = host;
    this.#connection = connection;
    this.connectedAt = nowMs;
    this.lastProgressMs = this.#lastReadMs = host.monotonicMs();
    this.#transfers = new HATransferQueue({
      connection,
      log: host.log,
      scratch: (size) => host.scratch(size),
      onFailed: (reason) => this.close(reason),
      onProgress: () => this.push(),
    });
    this.#admission = new HAAdmission(
      () => host.admit(this.addr),
      (isNews) => this.#onAdmission(isNews),
    );
  }

  get addr(): string {
    return this.#connection.remoteAddress;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Why this slave is not even listened to; null when it is. */
  get refusal(): string | null {
    return this.#admission.refusal;
  }

  onData(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    const { bounds, nowMs } = this.#now();
    this.#lastReadMs = nowMs;
    if (this.head.length < HEAD_SIZE) this.#keepHead(bytes);
    if (!this.#admission.isAdmitted) return this.#admission.hold(bytes, nowMs);
    const rest = this.#admission.rest(bytes);
    this.#perform(this.machine.onBytes(rest, bounds, nowMs));
  }

  onDrain(): void {
    this.#transfers.run();
    this.push();
  }

  onClose(reason: string | null): void {
    this.#end(reason ?? "the slave closed the link", null);
  }

  /** There is new data, or room. */
  push(): void {
    if (this.#isClosed || !this.#transfers.isEmpty) return;
    if (this.#connection.queuedBytes > 0 && !this.#transfers.isBulk) return;
    const { bounds, nowMs } = this.#now();
    this.#perform(this.machine.onWritable(bounds, nowMs));
  }

  tick(): void {
    if (this.#isClosed) return;
    this.#transfers.tick();
    const { bounds, nowMs } = this.#now();
    if (this.refusal === null) {
      this.#perform(this.machine.tick(bounds, nowMs));
      return;
    }
    const silentMs = nowMs - this.#lastReadMs;
    if (silentMs <= this.#host.haHousekeepingInterval) {
      this.#admission.tick(nowMs);
    } else this.close("the refused slave has fallen silent", "silent");
  }

  /** Ends the link. */
  close(reason: string, cause: HACloseCause | null = null): void {
    if (this.#isClosed) return;
    this.#connection.terminate();
    this.#end(reason, cause);
  }

  #keepHead(bytes: Uint8Array): void {
    const head = new Uint8Array(
      Math.min(HEAD_SIZE, this.head.length + bytes.length),
    );
    head.set(this.head);
    head.set(
      bytes.subarray(0, head.length - this.head.length),
      this.head.length,
    );
    this.head = head;
  }

  #onAdmission(isNews: boolean): void {
    if (this.#isClosed) return;
    if (isNews) this.#host.onState(this);
    if (!this.#admission.isAdmitted) return;
    const { bounds, nowMs } = this.#now();
    this.#perform(this.machine.onBytes(this.#admission.report, bounds, nowMs));
  }

  #now(): { bounds: LogBounds; nowMs: number } {
    return { bounds: this.#host.bounds(), nowMs: this.#host.monotonicMs() };
  }

  #end(reason: string, cause: HACloseCause | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#transfers.close();
    this.machine.onClose();
    this.#host.onClosed(this, reason, cause);
  }

  #perform(effects: readonly HAConnectionEffect[]): void {
    // First, for what the others call may come back here.
    for (const it of effects) {
      if (isOutgoing(it)) this.#transfers.push(it);
    }
    for (const it of effects) {
      if (!this.#isClosed && !isOutgoing(it)) this.#one(it);
    }
    this.#transfers.run();
  }

  #one(effect: Exclude<HAConnectionEffect, OutgoingEffect>): void {
    switch (effect.kind) {
      case "acked":
        return this.#host.onAcked(this);
      case "state":
        return this.#host.onState(this);
      case "close":
        return this.close(effect.reason, effect.cause);
    }
  }
}
