/**
 * SyncReplicas: how many slaves a synchronous put has to wait for (reference 6.4, DESIGN
 * "Replication rules").
 *
 * The status rules are those of 4.9: too few slaves in sync answer SLAVE_NOT_AVAILABLE at once;
 * `inSyncReplicas` and its companions keep the meaning of 5.x. `haSyncMode=degrade` waits for
 * nobody once the slaves have been gone for `haDegradeAfterMs`, until they are back in sync.
 */
import type { HAOptions } from "./ha_options.ts";

/** Keys that decide. */
export type SyncReplicasOptions = Pick<
  HAOptions,
  | "allAckInSyncStateSet"
  | "enableAutoInSyncReplicas"
  | "haDegradeAfterMs"
  | "haSlaveFallbehindMax"
  | "haSyncMode"
  | "inSyncReplicas"
  | "minInSyncReplicas"
>;

/** One live slave. */
export interface LiveSlave {
  readonly slaveAckOffset: number;
  /** Monotonic milliseconds of its last progress. */
  readonly lastProgressMs: number;
  /** For how long it has been behind; milliseconds. */
  readonly lagMs: number;
}

/** Slaves wanted: some number, none, or more than there are. */
export type AcksNeeded =
  | { readonly kind: "wait"; readonly ackNums: number }
  | { readonly kind: "none" }
  | { readonly kind: "not-available"; readonly reason: string };

/** Bytes behind at which a slave that comes back ends the degraded state. */
const BACK_IN_SYNC_BYTES = 1_048_576;
/** A slave that is behind and made no progress for so long does not count as responsive. */
const PROGRESS_MS = 1_000;

const NONE: AcksNeeded = Object.freeze({ kind: "none" });

/** Decides for one master. */
export class SyncReplicas {
  #options: SyncReplicasOptions;
  #inSyncMs: number;
  #isDegraded = false;

  constructor(options: SyncReplicasOptions, nowMs: number) {
    this.#options = options;
    this.#inSyncMs = nowMs;
  }

  reconfigure(options: SyncReplicasOptions): void {
    this.#options = options;
    if (options.haSyncMode !== "degrade") this.#isDegraded = false;
  }

  /** True while puts are acknowledged by the master alone although slaves are wanted. */
  get isDegraded(): boolean {
    return this.#isDegraded;
  }

  /** To be called with every change of acks and at every tick. */
  onSlaves(
    slaves: readonly LiveSlave[],
    maxOffset: number,
    nowMs: number,
  ): void {
    const { haDegradeAfterMs, haSyncMode } = this.#options;
    const count =
      slaves.filter((it) => this.isInSync(it, maxOffset, nowMs)).length;
    if (count >= Math.max(1, this.#wanted(count) - 1)) {
      this.#inSyncMs = nowMs;
      this.#isDegraded = false;
    } else if (haSyncMode === "degrade") {
      this.#isDegraded ||= nowMs - this.#inSyncMs >= haDegradeAfterMs;
    }
  }

  /** The one rule: what is shown and what ends or begins the degraded state. */
  isInSync(
    { lagMs, lastProgressMs, slaveAckOffset }: LiveSlave,
    maxOffset: number,
    nowMs: number,
  ): boolean {
    const { haSlaveFallbehindMax } = this.#options;
    const gapMax = this.#isDegraded
      ? Math.min(BACK_IN_SYNC_BYTES, haSlaveFallbehindMax)
      : haSlaveFallbehindMax;
    const gap = maxOffset - slaveAckOffset;
    const isResponsive = gap <= 0 || lagMs < PROGRESS_MS ||
      nowMs - lastProgressMs < PROGRESS_MS;
    return isResponsive && gap < gapMax;
  }

  /** Why a put must not even be stored; null when it may. */
  refusalOf(
    slaveAckOffsets: readonly number[],
    maxOffset: number,
  ): string | null {
    const { haSyncMode, minInSyncReplicas } = this.#options;
    if (haSyncMode === "async" || minInSyncReplicas <= 1) return null;
    const inSync = 1 + this.inSyncCount(slaveAckOffsets, maxOffset);
    if (inSync >= minInSyncReplicas || this.#isDegraded) return null;
    return `[IN_SYNC_REPLICAS_NOT_ENOUGH] ${inSync} of minInSyncReplicas=${minInSyncReplicas} ` +
      "copies are in sync; the message is not stored";
  }

  /** What a put that ends at `nextOffset` waits for. */
  needed(slaveAckOffsets: readonly number[], nextOffset: number): AcksNeeded {
    if (this.#options.haSyncMode === "async" || this.#isDegraded) return NONE;
    const inSync = this.inSyncCount(slaveAckOffsets, nextOffset);
    const ackNums = this.#wanted(inSync) - 1;
    if (ackNums <= 0) return NONE;
    if (inSync >= ackNums) return { kind: "wait", ackNums };
    return {
      kind: "not-available",
      reason: inSync === 0 && slaveAckOffsets.length === 0
        ? "[SLAVE_NOT_AVAILABLE] the message is stored, but no slave is connected to confirm it"
        : `[SLAVE_NOT_AVAILABLE] the message is stored, but ${inSync} of ${ackNums} slaves ` +
          `are within haSlaveFallbehindMax=${this.#options.haSlaveFallbehindMax} bytes`,
    };
  }

  /** Slaves less than `haSlaveFallbehindMax` bytes behind `offset`. */
  inSyncCount(slaveAckOffsets: readonly number[], offset: number): number {
    const { haSlaveFallbehindMax } = this.#options;
    let count = 0;
    for (const it of slaveAckOffsets) {
      if (offset - it < haSlaveFallbehindMax) count++;
    }
    return count;
  }

  /** Copies wanted, the master's own included, while `inSync` slaves are in sync. */
  #wanted(inSync: number): number {
    const {
      allAckInSyncStateSet,
      enableAutoInSyncReplicas,
      inSyncReplicas,
      minInSyncReplicas,
    } = this.#options;
    if (inSyncReplicas <= 1 && !allAckInSyncStateSet) return 1;
    if (allAckInSyncStateSet) return Math.max(inSync + 1, inSyncReplicas);
    if (!enableAutoInSyncReplicas) return inSyncReplicas;
    return Math.max(Math.min(inSyncReplicas, inSync + 1), minInSyncReplicas);
  }
}
