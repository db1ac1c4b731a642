/**
 * HAClientLink: the socket to a master and the HAClient that decides what is done with it.
 *
 * Invariants
 * - Before `begin` the master has nothing to say, and nothing is said to it.
 * - Bytes are appended before their report is written.
 * - With haAckAfterFlush at most one sync runs, and one follows for what came meanwhile.
 */
import { FOREIGN_HEAD_SIZE } from "../base/foreign_protocol.ts";
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { Connection, ConnectionEvents } from "../io/network.ts";
import type { ReplicaLog } from "../store/replica_log.ts";
import { HAClient, type HAClientEffect } from "./ha_client.ts";
import {
  foreignMaster,
  type MasterPorts,
  STRANGER_HINT,
} from "./foreign_master.ts";
import type { HAOptions } from "./ha_options.ts";
import type { HAStop } from "./master_probe.ts";
import { encodeReportHeader } from "./report_header.ts";

/** What a link needs of its service. */
export interface HAClientLinkHost {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: ReplicaLog;
  /** Something has come. */
  onRead(): void;
  /** The first header of a master has come. */
  onReceived(link: HAClientLink): void;
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
  /** The first bytes that came. */
  #head: Uint8Array = new Uint8Array(0);
  #ports: MasterPorts | null = null;
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
    if (this.#head.length < FOREIGN_HEAD_SIZE) this.#keepHead(bytes);
    if (this.machine === null) {
      return this.#endForeign("before it was asked");
    }
    this.#host.onRead();
    this.#perform(this.machine.onBytes(bytes, this.#nowMs()));
  }

  onDrain(): void {
    // Reports are 8 bytes: nobody waits for room.
  }

  onClose(reason: string | null): void {
    const why = reason ?? "the master closed it";
    if (this.machine !== null && !this.hasReceived) {
      return this.#endForeign(`it ended the link: ${why}`);
    }
    const hint = this.machine === null ? STRANGER_HINT : "";
    this.end(
      "disconnected",
      `The link to the master at ${this.address} ended: ${why}${hint}`,
    );
  }

  /** True once a header of the master came: nothing is known of this address before. */
  get hasReceived(): boolean {
    return this.machine?.hasReceived ?? false;
  }

  /** Nothing that came is the replication protocol; `how` is a clause. */
  #endForeign(how: string): void {
    this.end(
      "disconnected",
      foreignMaster(this.address, this.#head, how, this.#ports),
    );
  }

  /** Nothing has come for so long that something should have. */
  endSilent(silentMs: number): void {
    this.#endForeign(`silent for ${silentMs} ms`);
  }

  /** The logs were compared: asks for what follows the own end. */
  begin(requestOffset: number, ports: MasterPorts | null): void {
    const { log } = this.#host;
    this.#ports = ports;
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

  #named(reason: string): string {
    return `The link to the master at ${this.address} ended: ${reason}`;
  }

  #keepHead(bytes: Uint8Array): void {
    const missing = FOREIGN_HEAD_SIZE - this.#head.length;
    this.#head = Uint8Array.from([
      ...this.#head,
      ...bytes.subarray(0, missing),
    ]);
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
          // The end is told with its reason.
          if (effect.state === "TRANSFER") this.#host.onReceived(this);
          break;
        case "close":
          if (effect.isForeign) this.#endForeign(effect.reason);
          else this.end("disconnected", this.#named(effect.reason));
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
