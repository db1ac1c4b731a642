/**
 * TransactionTable: which half messages are settled, and how far both queues of
 * transactions need not be read any more (reference 12).
 *
 * A half message keeps the queue offset that it was first stored at as its
 * name, its "original". A check stores a copy further back; of the originals
 * and copies only the latest counts.
 *
 * Invariants
 * - `halfOffset` never passes one whose latest copy is neither settled nor beyond it.
 * - `opOffset` never passes an op message that settles something at or beyond `halfOffset`.
 */

/** Ends that are remembered after `halfOffset` has passed them: late answers come twice. */
const RECENT_MAX = 10_000;

/** Pure bookkeeping. */
export class TransactionTable {
  #halfOffset: number;
  /** All op messages before it were noted. */
  #nextOpOffset: number;
  /** Latest copies by original, and back; originals that were never copied are in neither. */
  readonly #latest = new Map<number, number>();
  readonly #original = new Map<number, number>();
  /** The op message that settled an original at or beyond `halfOffset`. */
  readonly #settledBy = new Map<number, number>();
  /** Originals that an op message still holds. */
  readonly #held = new Map<number, Set<number>>();
  readonly #recent = new Set<number>();
  /** Of the settled those that were put aside, and may still be ended. */
  readonly #givenUp = new Set<number>();

  /** Both: where reading begins. */
  constructor(halfOffset: number, opOffset: number) {
    this.#halfOffset = halfOffset;
    this.#nextOpOffset = opOffset;
  }

  /** The first half message that is still to be looked at. */
  get halfOffset(): number {
    return this.#halfOffset;
  }

  /** The first op message that is still needed. */
  get opOffset(): number {
    let first = this.#nextOpOffset;
    for (const opOffset of this.#held.keys()) {
      if (opOffset < first) first = opOffset;
    }
    return first;
  }

  /** The first op message that was not noted; later ones may have been. */
  get nextOpOffset(): number {
    return this.#nextOpOffset;
  }

  /** Reading cannot go on before `opOffset`: what was there is gone. */
  skipOpsTo(opOffset: number): void {
    this.#nextOpOffset = Math.max(this.#nextOpOffset, opOffset);
  }

  /**
   * The op message at `opOffset` settles these; noted twice it changes
   * nothing. What `isGivenUp` may still be ended.
   */
  onOp(
    opOffset: number,
    originals: readonly number[],
    isGivenUp = false,
  ): void {
    if (opOffset === this.#nextOpOffset) this.#nextOpOffset++;
    for (const original of originals) {
      if (!isGivenUp) {
        this.#remember(original);
        this.#givenUp.delete(original);
      } else if (!this.isEnded(original)) this.#givenUp.add(original);
      const at = this.#latest.get(original) ?? original;
      if (at < this.#halfOffset || this.#settledBy.has(original)) continue;
      this.#settledBy.set(original, opOffset);
      const held = this.#held.get(opOffset);
      if (held === undefined) this.#held.set(opOffset, new Set([original]));
      else held.add(original);
    }
    this.advance();
  }

  /** Passes what is settled at the front. */
  advance(): void {
    while (this.isSettled(this.#halfOffset)) this.passTo(this.#halfOffset + 1);
  }

  /** A copy of `original` was stored at `offset`. */
  onCopy(original: number, offset: number): void {
    this.#latest.set(original, offset);
    this.#original.set(offset, original);
  }

  /** The name of what is stored at `offset`. */
  originalOf(offset: number): number {
    return this.#original.get(offset) ?? offset;
  }

  /** True when `original` was committed or rolled back. */
  isEnded(original: number): boolean {
    return this.#recent.has(original) ||
      (this.#settledBy.has(original) && !this.#givenUp.has(original));
  }

  /** True when what is stored at `offset` needs no look: ended, put aside, or copied further back. */
  isSettled(offset: number): boolean {
    const original = this.originalOf(offset);
    return this.#settledBy.has(original) ||
      (this.#latest.get(original) ?? offset) > offset;
  }

  /** Everything before `offset` is settled or given up. */
  passTo(offset: number): void {
    for (let at = this.#halfOffset; at < offset; at++) this.#pass(at);
    this.#halfOffset = Math.max(this.#halfOffset, offset);
  }

  #pass(at: number): void {
    const original = this.originalOf(at);
    this.#original.delete(at);
    if ((this.#latest.get(original) ?? at) > at) return;
    this.#latest.delete(original);
    this.#givenUp.delete(original);
    const opOffset = this.#settledBy.get(original);
    if (opOffset === undefined) return;
    this.#settledBy.delete(original);
    const held = this.#held.get(opOffset);
    if (held?.delete(original) && held.size === 0) this.#held.delete(opOffset);
  }

  #remember(original: number): void {
    this.#recent.add(original);
    if (this.#recent.size <= RECENT_MAX) return;
    for (const oldest of this.#recent) {
      this.#recent.delete(oldest);
      return;
    }
  }
}
