/**
 * HALink: the socket of one slave and the HAConnection that decides what goes over it.
 *
 * Invariants
 * - Effects are performed in their order; one that reads old data off the loop holds the rest.
 * - Nothing new is asked for while the socket still holds bytes of the last transfer.
 * - A header and its body go out in one write.
 */
import type { Connection, ConnectionEvents } from "../io/network.ts";
import { type AdmissionAnswer, HAAdmission } from "./ha_admission.ts";
import type { HAConnection } from "./ha_connection.ts";
import type {
  HACloseCause,
  HAConnectionEffect,
  LogBounds,
} from "./ha_connection_effect.ts";
import type { ReplicaLog } from "../store/replica_log.ts";
import {
  TRANSFER_HEADER_SIZE,
  writeTransferHeader,
} from "./transfer_header.ts";

/** What a link needs of its service. */
export interface HALinkHost {
  bounds(): LogBounds;
  monotonicMs(): number;
  readonly log: Pick<ReplicaLog, "isHot" | "read">;
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

const NO_BYTES = new Uint8Array(0);

/** One link. */
export class HALink implements ConnectionEvents {
  /** Wall clock, milliseconds. */
  readonly connectedAt: number;
  /** Wall clock, milliseconds; null before the first. */
  lastAckAt: number | null = null;
  /** Begin of what the slave may have; null before its first report. */
  coversFrom: number | null = null;
  /** When the slave acknowledged more than before, or connected; monotonic, milliseconds. */
  lastProgressMs: number;
  readonly #host: HALinkHost;
  readonly #connection: Connection;
  readonly #effects: HAConnectionEffect[] = [];
  readonly #admission: HAAdmission;
  #lastReadMs: number;
  #coldBytes: Uint8Array = NO_BYTES;
  #isReading = false;
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
    if (!this.#admission.isAdmitted) return this.#admission.hold(bytes, nowMs);
    const rest = this.#admission.rest(bytes);
    this.#perform(this.machine.onBytes(rest, bounds, nowMs));
  }

  onDrain(): void {
    this.push();
  }

  onClose(reason: string | null): void {
    this.#end(reason ?? "the slave closed the link", null);
  }

  /** There is new data, or room. */
  push(): void {
    if (this.#isClosed || this.#isReading) return;
    if (this.#connection.queuedBytes > 0) return;
    const { bounds, nowMs } = this.#now();
    this.#perform(this.machine.onWritable(bounds, nowMs));
  }

  tick(): void {
    if (this.#isClosed) return;
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
    this.#effects.length = 0;
    this.machine.onClose();
    this.#host.onClosed(this, reason, cause);
  }

  #perform(effects: readonly HAConnectionEffect[]): void {
    for (const it of effects) this.#effects.push(it);
    this.#run();
  }

  #run(): void {
    while (this.#effects.length > 0 && !this.#isReading && !this.#isClosed) {
      this.#one(this.#effects.shift()!);
    }
  }

  #one(effect: HAConnectionEffect): void {
    switch (effect.kind) {
      case "transfer":
        return this.#transfer(effect.phyOffset, effect.size);
      case "heartbeat":
        return this.#write(
          this.#host.scratch(TRANSFER_HEADER_SIZE),
          effect.phyOffset,
          0,
        );
      case "acked":
        return this.#host.onAcked(this);
      case "state":
        return this.#host.onState(this);
      case "close":
        return this.close(effect.reason, effect.cause);
    }
  }

  #transfer(phyOffset: number, size: number): void {
    const { log } = this.#host;
    const frameSize = TRANSFER_HEADER_SIZE + size;
    const frame = log.isHot(phyOffset)
      ? this.#host.scratch(frameSize)
      : this.#coldFrame(frameSize);
    let read: boolean | Promise<boolean>;
    try {
      read = log.read(phyOffset, frame.subarray(TRANSFER_HEADER_SIZE));
    } catch (error) {
      this.#onReadFailed(phyOffset, error);
      return;
    }
    if (typeof read === "boolean") {
      this.#onRead(read, phyOffset, size, frame);
      return;
    }
    this.#isReading = true;
    read.then((isThere) => {
      this.#isReading = false;
      this.#onRead(isThere, phyOffset, size, frame);
    }, (error: unknown) => {
      this.#isReading = false;
      this.#onReadFailed(phyOffset, error);
    }).then(() => {
      this.#run();
      this.push();
    });
  }

  #onRead(
    isThere: boolean,
    phyOffset: number,
    size: number,
    frame: Uint8Array,
  ): void {
    if (isThere) this.#write(frame, phyOffset, size);
    else this.close(`The log has no ${size} bytes at ${phyOffset} any more`);
  }

  #onReadFailed(phyOffset: number, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.close(`Cannot read the log at ${phyOffset}: ${why}`);
  }

  #write(frame: Uint8Array, phyOffset: number, size: number): void {
    if (this.#isClosed) return;
    writeTransferHeader(frame, phyOffset, size);
    this.#connection.write(frame);
  }

  /** A link reads one piece at a time, and \`write\` copies what it cannot send. */
  #coldFrame(size: number): Uint8Array {
    if (this.#coldBytes.length < size) this.#coldBytes = new Uint8Array(size);
    return this.#coldBytes.subarray(0, size);
  }
}
