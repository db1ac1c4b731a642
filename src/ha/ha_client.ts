/**
 * HAClient: the slave's half of one replication link, without a socket. One per connection.
 *
 * The shell appends, then calls `onAppended` (once for all appends of one `onBytes` is enough)
 * and sends what that returns: "store, then acknowledge" is a data flow. Bodies are appended as
 * they arrive, also in parts; their bytes belong to the caller of `onBytes`.
 *
 * Invariants
 * - Bytes are appended in order, and only at the slave's own end.
 * - An offset is reported only after `onAppended` said that it is in the log, with
 *   haAckAfterFlush that it is flushed. Reports never fall.
 * - Nothing is accepted before the first report.
 * - `TRANSFER` begins with the first valid header: whoever only accepts is no master.
 */
import { FlowMonitor } from "./flow_monitor.ts";
import type { HAConnectionState } from "./ha_connection_state.ts";
import { HAFrameError } from "./ha_frame_error.ts";
import type { HAClientOptions } from "./ha_options.ts";
import { TransferDecoder } from "./transfer_header.ts";

/** The slave's log when the link begins. */
export interface HAClientStart {
  /** End of the log; 0: it is empty. */
  readonly maxPhyOffset: number;
  readonly flushedOffset: number;
  /** Bytes of a CommitLog file: an empty log may only begin at a multiple. */
  readonly mappedFileSize: number;
  /**
   * What an empty log asks for: 0 is the newest file of the master. 1 asks for everything from
   * 0 on: the byte at 0, which is always 0, is put back before the first append.
   */
  readonly requestOffset: number;
}

export type HAClientEffect =
  | { kind: "append"; phyOffset: number; body: Uint8Array }
  /** Send a report. */
  | { kind: "report"; slaveMaxOffset: number }
  | {
    kind: "state";
    state: HAConnectionState;
    reason: string | null;
  }
  /** `isForeign`: what came first was no header. */
  | { kind: "close"; reason: string; isForeign: boolean };

/** What the faces show; times are monotonic. */
export interface HAClientView {
  readonly state: HAConnectionState;
  readonly reason: string | null;
  readonly maxOffset: number;
  /** Null before the first report. */
  readonly reportedOffset: number | null;
  readonly transferredByteInSecond: number;
  readonly connectedMs: number;
  readonly lastReadMs: number;
  /** Null before the first report. */
  readonly lastWriteMs: number | null;
}

const EMPTY_REPEAT_MS = 200;

const NOTHING: HAClientEffect[] = [];

/** A report costs both sides as much as the append of a large part: parts share one. */
const PART_REPORT_MS = 100;

/** One per connection, made once the logs were compared. */
export class HAClient {
  readonly #options: HAClientOptions;
  readonly #start: HAClientStart;
  readonly #decoder = new TransferDecoder();
  readonly #flow: FlowMonitor;
  readonly #connectedMs: number;
  #state: HAConnectionState = "HANDSHAKE";
  #reason: string | null = null;
  /** True until the first byte of an empty log. */
  #isEmpty: boolean;
  /** False until the master has said where an empty log begins. */
  #isBeginKnown: boolean;
  /** Where the next body byte belongs; what `onBytes` handed out is before it. */
  #nextOffset: number;
  /** <= #nextOffset. */
  #maxPhyOffset: number;
  /** <= #maxPhyOffset. */
  #flushedOffset: number;
  #reportedOffset: number | null = null;
  /** True once twelve bytes were a header, wherever it leads. */
  #hasHeader = false;
  #hasReceived = false;
  #hasRepeated = false;
  #lastReadMs: number;
  #lastWriteMs: number | null = null;

  constructor(options: HAClientOptions, start: HAClientStart, nowMs: number) {
    this.#options = options;
    this.#start = start;
    this.#isEmpty = start.maxPhyOffset === 0;
    this.#nextOffset = this.#isEmpty ? start.requestOffset : start.maxPhyOffset;
    this.#isBeginKnown = this.#nextOffset > 0;
    this.#maxPhyOffset = start.maxPhyOffset;
    this.#flushedOffset = start.flushedOffset;
    this.#flow = new FlowMonitor(Infinity, nowMs);
    this.#connectedMs = nowMs;
    this.#lastReadMs = nowMs;
  }

  /** Bytes of the master, cut anywhere. The bodies of the effects are parts of `chunk`. */
  onBytes(chunk: Uint8Array, nowMs: number): HAClientEffect[] {
    if (this.#state === "SHUTDOWN") return NOTHING;
    this.#lastReadMs = nowMs;
    const effects: HAClientEffect[] = [];
    if (this.#reportedOffset === null) {
      this.#close("The master sends before it was asked", effects, true);
      return effects;
    }
    try {
      this.#decoder.push(chunk, {
        onHeader: (phyOffset) => {
          this.#hasHeader = true;
          this.#onHeader(phyOffset);
          if (!this.#hasReceived) this.#enter("TRANSFER", null, effects);
          this.#hasReceived = true;
        },
        onBody: (body) => this.#onBody(body, nowMs, effects),
      });
    } catch (error) {
      if (!(error instanceof HAFrameError)) throw error;
      this.#close(error.message, effects, !this.#hasHeader);
    }
    return effects;
  }

  /** The log has grown, or more of it is flushed. */
  onAppended(
    maxPhyOffset: number,
    flushedOffset: number,
    nowMs: number,
  ): HAClientEffect[] {
    this.#maxPhyOffset = maxPhyOffset;
    this.#flushedOffset = flushedOffset;
    if (this.#reportedOffset === null) return this.#firstReport(nowMs);
    if (this.#state === "SHUTDOWN" || this.#isEmpty) return NOTHING;
    const isPart = this.#decoder.isInBody;
    if (isPart && nowMs - this.#lastWriteMs! < PART_REPORT_MS) return NOTHING;
    return this.#reportOfAppended(nowMs);
  }

  /** An append failed: nothing more is taken from this link. */
  onAppendFailed(reason: string): HAClientEffect[] {
    if (this.#state === "SHUTDOWN") return NOTHING;
    const effects: HAClientEffect[] = [];
    this.#close(reason, effects);
    return effects;
  }

  /** At once after the connection is made, then every 100 ms or so. */
  tick(nowMs: number): HAClientEffect[] {
    if (this.#state === "SHUTDOWN") return NOTHING;
    const silentMs = nowMs - this.#lastReadMs;
    if (silentMs > this.#options.haHousekeepingInterval) {
      const effects: HAClientEffect[] = [];
      this.#close(
        `The master has been silent for ${Math.round(silentMs)} ms`,
        effects,
        this.#reportedOffset !== null && !this.#hasHeader,
      );
      return effects;
    }
    if (this.#reportedOffset === null) return this.#firstReport(nowMs);
    const sinceMs = nowMs - this.#lastWriteMs!;
    if (sinceMs >= PART_REPORT_MS) {
      const reports = this.#reportOfAppended(nowMs);
      if (reports.length > 0) return reports;
    }
    if (sinceMs < this.#reportInterval) return NOTHING;
    this.#hasRepeated = true;
    return [this.#report(this.#reportedOffset, nowMs)];
  }

  /** A first report of 0 is repeated soon: a lone one may be a stranger's zeros. */
  get #reportInterval(): number {
    const { haSendHeartbeatInterval } = this.#options;
    return this.#reportedOffset === 0 && !this.#hasRepeated
      ? Math.min(EMPTY_REPEAT_MS, haSendHeartbeatInterval)
      : haSendHeartbeatInterval;
  }

  /** True once a header of this link was valid: what answers is a master's replication port. */
  get hasReceived(): boolean {
    return this.#hasReceived;
  }

  /** The socket is closed, by whomever. */
  onClose(): void {
    this.#state = "SHUTDOWN";
  }

  view(nowMs: number): HAClientView {
    return {
      state: this.#state,
      reason: this.#reason,
      maxOffset: this.#maxPhyOffset,
      reportedOffset: this.#reportedOffset,
      transferredByteInSecond: this.#flow.transferredByteInSecond(nowMs),
      connectedMs: this.#connectedMs,
      lastReadMs: this.#lastReadMs,
      lastWriteMs: this.#lastWriteMs,
    };
  }

  /** Asks for what follows our end; that is an ack too, so it must be true as one. */
  #firstReport(nowMs: number): HAClientEffect[] {
    if (this.#state !== "HANDSHAKE") return NOTHING;
    if (this.#ackOffset() < this.#maxPhyOffset) return NOTHING;
    this.#lastReadMs = nowMs; // Until now the master had nothing to say.
    return [this.#report(this.#nextOffset, nowMs)];
  }

  #reportOfAppended(nowMs: number): HAClientEffect[] {
    const offset = this.#ackOffset();
    if (this.#isEmpty || offset <= this.#reportedOffset!) return NOTHING;
    return [this.#report(offset, nowMs)];
  }

  #ackOffset(): number {
    return this.#options.haAckAfterFlush
      ? Math.min(this.#flushedOffset, this.#maxPhyOffset)
      : this.#maxPhyOffset;
  }

  #report(slaveMaxOffset: number, nowMs: number): HAClientEffect {
    this.#reportedOffset = slaveMaxOffset;
    this.#lastWriteMs = nowMs;
    return { kind: "report", slaveMaxOffset };
  }

  /**
   * Throws `HAFrameError` for a place that is not our end. An empty log begins where the first
   * header says, be it a heartbeat: whatever comes later elsewhere means that bytes are missing.
   */
  #onHeader(phyOffset: number): void {
    if (this.#isBeginKnown) {
      if (phyOffset === this.#nextOffset) return;
      throw new HAFrameError(
        `The master sends bytes of ${phyOffset}, this log ends at ` +
          `${this.#nextOffset}`,
      );
    }
    const { mappedFileSize } = this.#start;
    if (phyOffset % mappedFileSize !== 0) {
      throw new HAFrameError(
        `The master begins at ${phyOffset}, which is no multiple of this ` +
          `broker's mappedFileSizeCommitLog ${mappedFileSize}`,
      );
    }
    this.#isBeginKnown = true;
    this.#nextOffset = phyOffset;
  }

  #onBody(body: Uint8Array, nowMs: number, effects: HAClientEffect[]): void {
    if (this.#isEmpty && this.#nextOffset === 1) {
      effects.push({
        kind: "append",
        phyOffset: 0,
        body: Uint8Array.of(0),
      });
    }
    effects.push({ kind: "append", phyOffset: this.#nextOffset, body });
    this.#isEmpty = false;
    this.#nextOffset += body.length;
    this.#flow.addByteCountTransferred(body.length, nowMs);
  }

  #close(
    reason: string,
    effects: HAClientEffect[],
    isForeign = false,
  ): void {
    this.#enter("SHUTDOWN", reason, effects);
    effects.push({ kind: "close", reason, isForeign });
  }

  #enter(
    state: HAConnectionState,
    reason: string | null,
    effects: HAClientEffect[],
  ): void {
    this.#state = state;
    this.#reason = reason;
    effects.push({ kind: "state", state, reason });
  }
}
