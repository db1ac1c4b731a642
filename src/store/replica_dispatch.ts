/**
 * ReplicaDispatch: how much of the log a slave dispatches with each piece that its master sends.
 *
 * Dispatch costs several times what the append costs. A slave that is far behind takes the bytes
 * first, for only they are safe from the end of the master: while many arrive, dispatch gets a
 * share of the time, and what it is behind grows, up to what can still be read from memory.
 */

/** Bytes between two ticks (100 ms) above which a slave counts as catching up. */
const BULK_BYTES = 4_194_304;
/** Part of what arrives in bulk that is dispatched with it. */
const BULK_SHARE = 0.125;
/** More than what arrives, so that dispatch gets to the end in every other case. */
const STEADY_SHARE = 2;

/** One store's. */
export class ReplicaDispatch {
  #arrivedBytes = 0;
  /** Of the last tick too: pieces come in bursts. */
  #arrivedBefore = 0;

  /** `behindBytesMax`: what dispatch may be behind while bytes arrive in bulk. */
  constructor(private readonly behindBytesMax: number) {}

  /** True while so much arrives that the tick must leave the loop to it. */
  get isBulk(): boolean {
    return Math.max(this.#arrivedBytes, this.#arrivedBefore) > BULK_BYTES;
  }

  /** How many bytes to dispatch now that `size` have arrived and so many are not dispatched. */
  onArrived(size: number, behindBytes: number): number {
    this.#arrivedBytes += size;
    const isHurried = this.isBulk && behindBytes <= this.behindBytesMax;
    return Math.ceil(size * (isHurried ? BULK_SHARE : STEADY_SHARE));
  }

  /** Every 100 ms. */
  tick(): void {
    this.#arrivedBefore = this.#arrivedBytes;
    this.#arrivedBytes = 0;
  }
}
