/** The seeded schedules of a pair, spread over processes, and what they met, added up. */
import { availableParallelism } from "node:os";

/** Schedules of one run. */
const SCHEDULES = 10_000;

/** A process meets every rare state only in some hundreds of schedules. */
const SHARDS_MAX = 8;

/** Values for `TEST_SEEDS`, such as `1-5000`; together all schedules. */
export function shardSeeds(
  count = Math.min(Math.max(availableParallelism(), 2), SHARDS_MAX),
): string[] {
  return Array.from({ length: count }, (_, index) => {
    const from = Math.floor(SCHEDULES * index / count);
    const to = Math.floor(SCHEDULES * (index + 1) / count);
    return `${from + 1}-${to}`;
  });
}

/** The lines `hit NAME COUNT` that test/sim/ha_hits.ts prints, added up, sorted by name. */
export function sumHits(texts: readonly string[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const text of texts) {
    for (const [, what, count] of text.matchAll(/^hit (.*\S) +(\d+)$/gm)) {
      sums.set(what!, (sums.get(what!) ?? 0) + Number(count));
    }
  }
  return new Map([...sums].sort());
}
