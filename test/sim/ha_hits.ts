/**
 * HAHits: how often each fault, state and answer was met; `scripts/test` adds up those of several
 * processes from what is printed.
 */
import { assert } from "@std/assert";

/** Stands before each printed count; `scripts/sim_shards.ts` looks for it. */
const PREFIX = "hit ";

export class HAHits {
  readonly counts: Map<string, number>;

  /** `expected`: printed with 0 when nothing was met. */
  constructor(readonly expected: readonly string[] = []) {
    this.counts = new Map(expected.map((it) => [it, 0]));
  }

  add(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** One line each, sorted. */
  print(): void {
    const lines = [...this.counts].sort()
      .map(([what, count]) => `${PREFIX}${what.padEnd(34)} ${count}`);
    console.log(lines.join("\n"));
  }

  /** Everything expected was met. */
  check(): void {
    for (const it of this.expected) {
      assert((this.counts.get(it) ?? 0) > 0, `never met: ${it}`);
    }
  }
}
