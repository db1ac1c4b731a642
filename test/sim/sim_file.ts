/** SimFile: one simulated file, as the process sees it and as the disk has it. */
import { SimContent } from "./sim_content.ts";
import type { SimRandom } from "./sim_random.ts";

/** A disk writes a sector whole, or tears it where a test asks for that. */
const SECTOR_SIZE = 512;

/** How many sectors are kept or lost whole for each one that is torn. */
const TORN_SECTOR_RATIO = 8;

type Change =
  | { kind: "write"; sequence: number; position: number; bytes: Uint8Array }
  | { kind: "truncate"; sequence: number; size: number };

/**
 * Invariants
 * - `current` is `durable` with every change in `#changes` applied in order,
 *   until a sync fails.
 */
export class SimFile {
  current = new SimContent();
  durable = new SimContent();
  #changes: Change[] = [];
  #sequence = 0;

  /** Identifies the last change: what a sync that starts now has to cover. */
  get sequence(): number {
    return this.#sequence;
  }

  get hasUnsynced(): boolean {
    return this.#changes.length > 0;
  }

  write(position: number, bytes: Uint8Array): void {
    const sequence = ++this.#sequence;
    const change = { kind: "write", sequence, position, bytes } as const;
    this.#changes.push({ ...change, bytes: bytes.slice() });
    this.current.write(position, bytes);
  }

  truncate(size: number): void {
    const sequence = ++this.#sequence;
    this.#changes.push({ kind: "truncate", sequence, size });
    this.current.truncate(size);
  }

  /** Makes every change up to `sequence` survive a crash. */
  commit(sequence: number): void {
    while (this.#changes[0] && this.#changes[0].sequence <= sequence) {
      apply(this.#changes.shift()!, this.durable);
    }
  }

  /**
   * A sync failed: as on Linux the pages count as clean from now on, so that
   * the next sync succeeds although they never reached the disk.
   */
  abandon(sequence: number): void {
    this.#changes = this.#changes.filter((it) => it.sequence > sequence);
  }

  /** Power loss: of what was not synced, chance decides what reached the disk. */
  crash(random: SimRandom): void {
    const changes = this.#changes;
    this.#changes = [];
    const fate = random.pick(["lost", "kept", "prefix", "pieces"] as const);
    if (fate === "pieces") {
      for (const it of changes) this.#keepPieces(it, random);
    } else if (fate !== "lost") {
      const count = fate === "kept"
        ? changes.length
        : random.nextInt(changes.length + 1);
      for (const it of changes.slice(0, count)) apply(it, this.durable);
      const torn = changes[count];
      if (torn) this.#keepFront(torn, random);
    }
    this.current = this.durable.clone();
  }

  #keepFront(change: Change, random: SimRandom): void {
    if (change.kind !== "write") return;
    const count = random.nextInt(change.bytes.length);
    if (count === 0) return;
    this.durable.write(change.position, change.bytes.subarray(0, count));
  }

  #keepPieces(change: Change, random: SimRandom): void {
    if (change.kind === "truncate") {
      if (random.oneIn(2)) apply(change, this.durable);
      return;
    }
    const { position, bytes } = change;
    for (let start = 0; start < bytes.length;) {
      const rest = SECTOR_SIZE - (position + start) % SECTOR_SIZE;
      const end = Math.min(start + rest, bytes.length);
      if (random.oneIn(2)) {
        const isTorn = random.oneIn(TORN_SECTOR_RATIO);
        const kept = isTorn ? random.nextInt(end - start) : end - start;
        if (kept > 0) {
          const piece = bytes.subarray(start, start + kept);
          this.durable.write(position + start, piece);
        }
      }
      start = end;
    }
  }
}

function apply(change: Change, content: SimContent): void {
  if (change.kind === "write") content.write(change.position, change.bytes);
  else content.truncate(change.size);
}
