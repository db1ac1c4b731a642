/** SimFile: one simulated file, as the process sees it and as the disk has it. */
import { SimContent } from "./sim_content.ts";
import type { SimRandom } from "./sim_random.ts";

/** A disk writes a sector whole, or tears it where a test asks for that. */
const SECTOR_SIZE = 512;

/** How many sectors are kept or lost whole for each one that is torn. */
const TORN_SECTOR_RATIO = 8;

interface Write {
  readonly kind: "write";
  readonly sequence: number;
  readonly position: number;
  readonly bytes: Uint8Array;
}

type Change = Write | { kind: "truncate"; sequence: number; size: number };

/**
 * Invariants
 * - `current` is `durable` with every change in `#changes` applied in order,
 *   until a sync fails.
 * - A sector reaches the disk as it was at one moment: with a write all earlier ones to it.
 */
export class SimFile {
  current = new SimContent();
  durable = new SimContent();
  #changes: Change[] = [];
  /** Of failed syncs: in the page cache only. */
  #abandoned: Write[] = [];
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
    if (this.#abandoned.length > 0) this.#takeBack(position, bytes.length);
    this.#changes.push({
      kind: "write",
      sequence,
      position,
      bytes: bytes.slice(),
    });
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
    for (const it of this.#changes) {
      if (it.sequence > sequence) break;
      if (it.kind === "write") this.#abandoned.push(it);
    }
    this.#changes = this.#changes.filter((it) => it.sequence > sequence);
  }

  /** Power loss: of what was not synced, chance decides what reached the disk. */
  crash(random: SimRandom): void {
    const changes = this.#changes;
    this.#changes = [];
    this.#abandoned = [];
    const fate = random.pick(["lost", "kept", "prefix", "pieces"] as const);
    if (fate === "pieces") {
      this.#keepPieces(changes, random);
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

  /** Each sector as it was at a moment of its own. */
  #keepPieces(changes: readonly Change[], random: SimRandom): void {
    /** By sector: its writes that are kept. */
    const kept = new Map<number, number>();
    for (const it of changes) {
      if (it.kind === "truncate") continue;
      for (const { sector } of sectorsOf(it)) {
        kept.set(sector, (kept.get(sector) ?? 0) + 1);
      }
    }
    for (const [sector, count] of kept) {
      kept.set(sector, random.nextInt(count + 1));
    }
    for (const it of changes) {
      if (it.kind === "truncate") {
        if (random.oneIn(2)) apply(it, this.durable);
        continue;
      }
      for (const { sector, start, end } of sectorsOf(it)) {
        const left = kept.get(sector)!;
        kept.set(sector, left - 1);
        const isTorn = left === 0 && random.oneIn(TORN_SECTOR_RATIO);
        const size = left > 0
          ? end - start
          : isTorn
          ? random.nextInt(end - start)
          : 0;
        const piece = it.bytes.subarray(start, start + size);
        if (size > 0) this.durable.write(it.position + start, piece);
      }
    }
  }

  /** A write to a sector makes all of it dirty again, with what a failed sync left there. */
  #takeBack(position: number, size: number): void {
    const from = position - position % SECTOR_SIZE;
    const to = Math.ceil((position + size) / SECTOR_SIZE) * SECTOR_SIZE;
    const kept: Write[] = [];
    for (const it of this.#abandoned) {
      const start = Math.max(from - it.position, 0);
      const end = Math.min(to - it.position, it.bytes.length);
      if (start >= end) {
        kept.push(it);
        continue;
      }
      this.#changes.push({
        kind: "write",
        sequence: this.#sequence,
        position: it.position + start,
        bytes: it.bytes.subarray(start, end),
      });
      if (start > 0) kept.push({ ...it, bytes: it.bytes.subarray(0, start) });
      if (end < it.bytes.length) {
        kept.push({
          ...it,
          position: it.position + end,
          bytes: it.bytes.subarray(end),
        });
      }
    }
    this.#abandoned = kept;
  }
}

/** The parts of a write by sector; `start` and `end` lie in its bytes. */
function* sectorsOf(
  { position, bytes }: Write,
): Iterable<{ sector: number; start: number; end: number }> {
  for (let start = 0; start < bytes.length;) {
    const sector = Math.floor((position + start) / SECTOR_SIZE);
    const end = Math.min((sector + 1) * SECTOR_SIZE - position, bytes.length);
    yield { sector, start, end };
    start = end;
  }
}

function apply(change: Change, content: SimContent): void {
  if (change.kind === "write") content.write(change.position, change.bytes);
  else content.truncate(change.size);
}
