/**
 * HAConnection: the master's half of one replication link, without a socket.
 *
 * Effects are performed in their order; a transfer counts as sent when it is returned. Whenever
 * a `state` effect says anything but TRANSFER the link's ack has ceased to count.
 *
 * Invariants
 * - slaveRequestOffset or the boundary chosen for it <= slaveAckOffset <= transferFromWhere
 *   <= end of the log, once bytes were acked. A report outside of that ends the link.
 * - A transfer lies in one MappedFile; the next one begins where it ends.
 * - Nothing is sent before the first report.
 * - `isSlave` only after bytes that were sent here were acked, or the exact end was reported.
 * - A heartbeat goes out every `haSendHeartbeatInterval`, whatever else does.
 */
import { FlowMonitor } from "./flow_monitor.ts";
import type {
  HACloseCause,
  HAConnectionEffect,
  HAConnectionView,
  LogBounds,
} from "./ha_connection_effect.ts";
import type { HAConnectionState, HAProblem } from "./ha_connection_state.ts";
import { HAFrameError } from "./ha_frame_error.ts";
import type { HAConnectionOptions } from "./ha_options.ts";
import { ReportDecoder } from "./report_header.ts";
import { TransferWindow } from "./transfer_window.ts";

/** Bytes below which a cap is waited for. */
const CAPPED_TRANSFER_SIZE_MIN = 4096;

/** Later than that a report is one of its own, and not part of the first. */
const REPEAT_MS_MIN = 50;

const NOTHING: HAConnectionEffect[] = [];

/** One per accepted link. */
export class HAConnection {
  #options: HAConnectionOptions;
  readonly #isDiverged: (offset: number) => boolean;
  readonly #reports = new ReportDecoder();
  readonly #window: TransferWindow;
  readonly #flow: FlowMonitor;
  readonly #connectedMs: number;
  #state: HAConnectionState = "READY";
  #problem: HAProblem | null = null;
  #reason: string | null = null;
  #isSlave = false;
  #isDoubted = false;
  /** When the first report came; null before. */
  #firstReportMs: number | null = null;
  #hasRepeated = false;
  #slaveRequestOffset = -1;
  #isMaybeEmpty = false;
  /** Where the first transfer began. */
  #startOffset = -1;
  #transferFromWhere = -1;
  #slaveAckOffset = -1;
  #lastReadMs: number;
  #lastAckMs: number | null = null;
  #lastHeartbeatMs: number;

  /** `isDiverged`: whether a slave that asks from this offset was longer than this log once. */
  constructor(
    options: HAConnectionOptions,
    nowMs: number,
    isDiverged: (offset: number) => boolean = () => false,
  ) {
    this.#options = options;
    this.#isDiverged = isDiverged;
    this.#window = new TransferWindow(
      options.haMaxInFlightBytes,
      options.haTransferBatchSize,
      nowMs,
    );
    this.#flow = new FlowMonitor(capOf(options), nowMs);
    this.#connectedMs = nowMs;
    this.#lastReadMs = nowMs;
    this.#lastHeartbeatMs = nowMs;
  }

  /** True while its acks count. */
  get isSlave(): boolean {
    return this.#isSlave;
  }

  /**
   * True from `doubt` to the next byte: the link may be the dead end of a slave that has come
   * back on another one, and one slave is not two copies.
   */
  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** Another link of the same host has begun. */
  doubt(): void {
    this.#isDoubted = true;
  }

  /** True once it has reported again: a stranger says its bytes and goes. */
  get hasRepeated(): boolean {
    return this.#hasRepeated;
  }

  /**
   * True for a slave that has shown it: eight zero bytes of anybody are the exact end of an empty
   * log. Only what is shown follows from it, since nothing is lost by such an ack.
   */
  get isProvenSlave(): boolean {
    return this.#isSlave && (this.#slaveAckOffset > 0 || this.#hasRepeated);
  }

  /** -1 before the first report; counts while `isSlave`. */
  get slaveAckOffset(): number {
    return this.#slaveAckOffset;
  }

  /**
   * Where the log of a slave begins that may have been empty when it asked; 0 of one that was
   * not, for whatever it holds it has got from a master before. An empty one asks for 0, or with
   * haBootstrap=min for our first byte.
   */
  get emptySlaveFrom(): number {
    return this.#isMaybeEmpty ? this.#startOffset : 0;
  }

  /** First offset that must stay on the disk for this slave; -1 before it has asked. */
  get neededFrom(): number {
    if (this.#state !== "TRANSFER") return -1;
    return Math.max(this.#slaveAckOffset, this.#startOffset);
  }

  reconfigure(options: HAConnectionOptions): void {
    this.#options = options;
    this.#window.reconfigure(
      options.haMaxInFlightBytes,
      options.haTransferBatchSize,
    );
    this.#flow.byteInSecondMax = capOf(options);
  }

  /** Bytes of the slave, cut anywhere. */
  onBytes(
    bytes: Uint8Array,
    log: LogBounds,
    nowMs: number,
  ): HAConnectionEffect[] {
    if (this.#state === "SHUTDOWN") return NOTHING;
    this.#lastReadMs = nowMs;
    const effects: HAConnectionEffect[] = [];
    const ackBefore = this.#isSlave && !this.#isDoubted
      ? this.#slaveAckOffset
      : -1;
    this.#isDoubted = false;
    try {
      this.#reports.push(bytes, (offset) => {
        if (this.#state !== "SHUTDOWN") {
          this.#onReport(offset, log, nowMs, effects);
        }
      });
    } catch (error) {
      if (!(error instanceof HAFrameError)) throw error;
      this.#close("protocol", error.message, effects);
    }
    if (this.#isSlave && this.#slaveAckOffset !== ackBefore) {
      effects.push({ kind: "acked", slaveAckOffset: this.#slaveAckOffset });
    }
    this.#transfer(log, nowMs, effects);
    return effects;
  }

  /** The log has grown, or the socket has room again. */
  onWritable(log: LogBounds, nowMs: number): HAConnectionEffect[] {
    if (this.#state !== "TRANSFER") return NOTHING;
    if (this.#transferFromWhere === log.maxOffset) return NOTHING;
    const effects: HAConnectionEffect[] = [];
    this.#transfer(log, nowMs, effects);
    return effects;
  }

  /** Every 100 ms or so. */
  tick(log: LogBounds, nowMs: number): HAConnectionEffect[] {
    if (this.#state === "SHUTDOWN") return NOTHING;
    const effects: HAConnectionEffect[] = [];
    const silentMs = nowMs - this.#lastReadMs;
    if (silentMs > this.#options.haHousekeepingInterval) {
      this.#close(
        "silent",
        `The slave has been silent for ${Math.round(silentMs)} ms`,
        effects,
      );
      return effects;
    }
    this.#transfer(log, nowMs, effects);
    const sinceMs = nowMs - this.#lastHeartbeatMs;
    if (
      this.#state !== "READY" &&
      sinceMs >= this.#options.haSendHeartbeatInterval
    ) {
      this.#lastHeartbeatMs = nowMs;
      effects.push({ kind: "heartbeat", phyOffset: this.#transferFromWhere });
    }
    return effects;
  }

  /** The socket is closed, by whomever: nothing counts any more. */
  onClose(): void {
    this.#state = "SHUTDOWN";
    this.#isSlave = false;
  }

  view(nowMs: number): HAConnectionView {
    return {
      state: this.#state,
      problem: this.#problem,
      reason: this.#reason,
      isSlave: this.#isSlave,
      slaveRequestOffset: known(this.#slaveRequestOffset),
      transferFromWhere: known(this.#transferFromWhere),
      slaveAckOffset: known(this.#slaveAckOffset),
      inFlightBytes: this.#window.inFlightBytes,
      inFlightBytesMax: this.#window.size,
      transferredByteInSecond: this.#flow.transferredByteInSecond(nowMs),
      connectedMs: this.#connectedMs,
      lastReadMs: this.#lastReadMs,
      lastAckMs: this.#lastAckMs,
    };
  }

  #onReport(
    offset: number,
    log: LogBounds,
    nowMs: number,
    effects: HAConnectionEffect[],
  ): void {
    this.#lastAckMs = nowMs;
    this.#firstReportMs ??= nowMs;
    this.#hasRepeated ||= nowMs - this.#firstReportMs >= REPEAT_MS_MIN;
    if (offset > log.maxOffset) {
      if (this.#slaveRequestOffset < 0) {
        this.#slaveRequestOffset = offset;
        this.#problem = "diverged";
      }
      this.#close(
        "ack-beyond",
        `The slave reports ${offset}, this log ends at ${log.maxOffset}`,
        effects,
      );
    } else if (this.#slaveRequestOffset < 0) {
      this.#onRequest(offset, log, effects);
    } else if (offset !== this.#slaveAckOffset) {
      this.#onAck(offset, nowMs, effects);
    }
    if (this.#state === "TRANSFER" && offset === log.maxOffset) {
      this.#isSlave = true;
    }
  }

  /** The first report says where to begin. */
  #onRequest(
    offset: number,
    log: LogBounds,
    effects: HAConnectionEffect[],
  ): void {
    this.#slaveRequestOffset = offset;
    if (this.#isDiverged(offset)) {
      this.#problem = "diverged";
      this.#close(
        "ack-beyond",
        `The slave reported ${offset} when this log was shorter: what it has ` +
          "there is not what is here now",
        effects,
      );
      return;
    }
    this.#slaveAckOffset = offset;
    this.#startOffset = offset === 0
      ? Math.max(
        log.maxOffset - log.maxOffset % log.mappedFileSize,
        log.minOffset,
      )
      : offset;
    this.#isMaybeEmpty = offset === 0 || offset === log.minOffset;
    this.#transferFromWhere = this.#startOffset;
    this.#lastHeartbeatMs = -Infinity; // The next tick tells the slave that a master is here.
    if (this.#startOffset < log.minOffset) {
      this.#suspend(
        "needs-reseed",
        `The slave ends at ${offset}, this log begins at ${log.minOffset}`,
        effects,
      );
    } else this.#enter("TRANSFER", null, null, effects);
  }

  #onAck(offset: number, nowMs: number, effects: HAConnectionEffect[]): void {
    const from = Math.max(this.#slaveAckOffset, this.#startOffset);
    if (offset <= from || offset > this.#transferFromWhere) {
      this.#close(
        "ack-beyond",
        `The slave reports ${offset}, what it was sent and has not acked is ` +
          `${from} to ${this.#transferFromWhere}`,
        effects,
      );
      return;
    }
    this.#window.onAcked(offset - from, nowMs);
    this.#slaveAckOffset = offset;
    if (this.#state === "TRANSFER") this.#isSlave = true;
  }

  #transfer(
    log: LogBounds,
    nowMs: number,
    effects: HAConnectionEffect[],
  ): void {
    if (this.#state !== "TRANSFER") return;
    if (this.#transferFromWhere < log.minOffset) {
      this.#suspend(
        "needs-reseed",
        `The slave needs ${this.#transferFromWhere}, this log begins at ` +
          `${log.minOffset}`,
        effects,
      );
      return;
    }
    for (;;) {
      const phyOffset = this.#transferFromWhere;
      const size = Math.min(
        log.maxOffset - phyOffset,
        log.mappedFileSize - phyOffset % log.mappedFileSize,
        this.#window.batchSize,
      );
      if (size <= 0 || !this.#window.hasRoomFor(size)) return;
      const allowed = this.#allowed(size, nowMs);
      if (allowed === 0) return;
      this.#transferFromWhere += allowed;
      this.#window.onSent(allowed, nowMs);
      this.#flow.addByteCountTransferred(allowed, nowMs);
      effects.push({ kind: "transfer", phyOffset, size: allowed });
    }
  }

  /** What the cap leaves of `size`; 0: wait. */
  #allowed(size: number, nowMs: number): number {
    if (!this.#options.haFlowControlEnable) return size;
    const allowed = this.#flow.canTransferMaxByteNum(nowMs);
    const least = Math.min(
      size,
      CAPPED_TRANSFER_SIZE_MIN,
      Math.ceil(this.#options.maxHaTransferByteInSecond / 10),
    );
    return allowed < least ? 0 : Math.min(size, allowed);
  }

  #suspend(
    problem: HAProblem,
    reason: string,
    effects: HAConnectionEffect[],
  ): void {
    this.#isSlave = false;
    this.#enter("SUSPEND", problem, reason, effects);
  }

  #close(
    cause: HACloseCause,
    reason: string,
    effects: HAConnectionEffect[],
  ): void {
    this.#isSlave = false;
    this.#enter("SHUTDOWN", this.#problem, reason, effects);
    effects.push({ kind: "close", cause, reason });
  }

  #enter(
    state: HAConnectionState,
    problem: HAProblem | null,
    reason: string | null,
    effects: HAConnectionEffect[],
  ): void {
    this.#state = state;
    this.#problem = problem;
    this.#reason = reason;
    effects.push({ kind: "state", state, problem, reason });
  }
}

function capOf(options: HAConnectionOptions): number {
  return options.haFlowControlEnable
    ? options.maxHaTransferByteInSecond
    : Infinity;
}

function known(offset: number): number | null {
  return offset < 0 ? null : offset;
}
