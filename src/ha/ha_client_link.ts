/**
 * HAClientLink: the socket to a master and the HAClient that decides what is done with it.
 *
 * Invariants
 * - Before `begin` the master has nothing to say, and nothing is said to it.
 * - Bytes are appended before their report is written.
 * - With haAckAfterFlush at most one sync runs, and one follows for what came meanwhile.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { Connection, ConnectionEvents } from "../io/network.ts";
import type { ReplicaLog } from "../store/replica_log.ts";
import { HAClient, type HAClientEffect } from "./ha_client.ts";
import type { HAOptions } from "./ha_options.ts";
import type { HAStop } from "./master_probe.ts";
import { encodeReportHeader } from "./report_header.ts";

/** A master that knows us not says nothing. */
export const STRANGER_HINT =
  "; nothing was received: does haAllowedPeers of the master let this broker in";

/** What a link needs of its service. */
export interface HAClientLinkHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: ReplicaLog;
  /** The master has said something. */
  onRead(): void;
  onWritten(): void;
  /** The log has grown. */
  onAppended(): void;
  /** Called once; `reason` is one sentence. */
  onEnded(link: HAClientLink, problem: HAStop, reason: string): void;
}

/** One link, from its connect to its end. */
export class HAClientLink implements ConnectionEvents {
  connection: Connection | null = null;
  /** Null until `begin`. */
  machine: HAClient | null = null;
  /** Wall clock, milliseconds; null while connecting. */
  connectedAt: number | null = null;
  isEnded = false;
  readonly #host: HAClientLinkHost;
  readonly #options: HAOptions;
  #hasRead = false;
  #isFlushing = false;

  constructor(
    host: HAClientLinkHost,
    options: HAOptions,
    /** `host:port` of the master. */
    readonly address: string,
    /** Monotonic, milliseconds. */
    readonly startedMs: number,
  ) {
    this.#host = host;
    this.#options = options;
  }

  onData(bytes: Uint8Array): void {
    if (this.isEnded) return;
    if (this.machine === null) {
      return this.end(
        "disconnected",
        `${this.address} sent bytes before it was asked: it is no master`,
      );
    }
    this.#hasRead = true;
    this.#host.onRead();
    this.#perform(this.machine.onBytes(bytes, this.#nowMs()));
  }

  onDrain(): void {
    // Reports are 8 bytes: nobody waits for room.
  }

  onClose(reason: string | null): void {
    const why = reason ?? "the master closed it";
    const hint = this.#hasRead ? "" : STRANGER_HINT;
    this.end(
      "disconnected",
      `The link to the master at ${this.address} ended: ${why}${hint}`,
    );
  }

  /** The logs were compared: asks for what follows the own end. */
  begin(requestOffset: number): void {
    const { log } = this.#host;
    this.machine = new HAClient(this.#options, {
      maxPhyOffset: log.maxOffset,
      flushedOffset: log.flushedOffset,
      mappedFileSize: log.mappedFileSize,
      requestOffset,
    }, this.#nowMs());
    // The first report goes out at once: the master waits for it.
    this.tick();
  }

  tick(): void {
    if (this.machine === null || this.isEnded) return;
    this.#perform(this.machine.tick(this.#nowMs()));
    this.#flushAndReport();
  }

  end(problem: HAStop, reason: string): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.machine?.onClose();
    this.connection?.close();
    this.#host.onEnded(this, problem, reason);
  }

  #nowMs(): number {
    return this.#host.clock.monotonicMs();
  }

  /** Appends first, then reports what was appended. */
  #perform(effects: readonly HAClientEffect[]): void {
    let hasAppended = false;
    for (const effect of effects) {
      if (this.isEnded) break;
      switch (effect.kind) {
        case "append":
          if (this.#append(effect.phyOffset, effect.body)) hasAppended = true;
          break;
        case "report":
          this.#report(effect.slaveMaxOffset);
          break;
        case "state":
          break; // Told by the service: as begun, or with the reason of the end.
        case "close":
          this.end("disconnected", effect.reason);
      }
    }
    if (!hasAppended) return;
    this.#host.onAppended();
    this.#reportAppended();
    this.#flushAndReport();
  }

  #append(phyOffset: number, body: Uint8Array): boolean {
    const { log } = this.#host;
    let refusal = log.unappendableReason;
    try {
      if (refusal === null && log.append(phyOffset, body)) return true;
      refusal ??=
        `the master sent ${phyOffset}, this log ends at ${log.maxOffset}`;
    } catch (error) {
      refusal = messageOf(error);
    }
    this.end("stalled", `The store takes no bytes: ${refusal}`);
    return false;
  }

  #reportAppended(): void {
    if (this.machine === null || this.isEnded) return;
    const { log } = this.#host;
    const { maxOffset, flushedOffset } = log;
    this.#perform(
      this.machine.onAppended(maxOffset, flushedOffset, this.#nowMs()),
    );
  }

  #flushAndReport(): void {
    const { log } = this.#host;
    if (!this.#options.haAckAfterFlush || this.#isFlushing) return;
    if (this.isEnded || log.flushedOffset === log.maxOffset) return;
    this.#isFlushing = true;
    log.flush().then(() => {
      this.#isFlushing = false;
      this.#reportAppended();
      this.#flushAndReport();
    }, (error: unknown) => {
      this.#isFlushing = false;
      this.end("stalled", `Cannot flush the log: ${messageOf(error)}`);
    });
  }

  #report(slaveMaxOffset: number): void {
    this.connection?.write(encodeReportHeader({ slaveMaxOffset }));
    this.#host.onWritten();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
