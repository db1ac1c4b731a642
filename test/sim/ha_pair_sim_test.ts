import { test } from "node:test";
import { assert } from "@std/assert";
import { HAPair } from "./ha_pair.ts";
import { HAHits } from "./ha_pair_checker.ts";
import { HA_PLANTS, type HAPlant } from "./ha_plants.ts";
import { HA_FAULT_NAMES } from "./ha_faults.ts";
import { seeds } from "./sim_random.ts";

/** `TEST_SEEDS=1-5000` in one process and `5001-10000` in another: a long run. */
const SEED_COUNT = 1_000;
/** Schedules after which a planted bug must have shown. */
const PLANTED_SEEDS_MAX = 300;
const TIMEOUT_MS = 600_000;

/** What every run has to meet, beside every fault. */
const EXPECTED = [
  "master's link: READY",
  "master's link: TRANSFER",
  "master's link: SUSPEND",
  "master's link: SHUTDOWN",
  "master: needs-reseed",
  "slave: READY",
  "slave: HANDSHAKE",
  "slave: TRANSFER",
  "slave: SHUTDOWN",
  "slave: disconnected",
  "slave: stalled",
  "slave: diverged",
  "slave: needs-reseed",
  "put: PUT_OK",
  "put: FLUSH_SLAVE_TIMEOUT",
  "put: SLAVE_NOT_AVAILABLE",
  "end: healthy",
  "end: diverged",
  "end: needs-reseed",
];

/** The first schedule that ends badly, and how; undefined when all end well. */
async function firstFailure(
  list: readonly number[],
  hits: HAHits,
  plant: HAPlant | null = null,
): Promise<{ seed: number; cause: Error } | undefined> {
  for (const seed of list) {
    try {
      await new HAPair(seed, hits, plant).run();
    } catch (cause) {
      return { seed, cause: cause as Error };
    }
  }
  return undefined;
}

test(
  `A pair keeps its promises through ${SEED_COUNT} schedules of faults`,
  { timeout: TIMEOUT_MS },
  async () => {
    const hits = new HAHits();
    const list = seeds(SEED_COUNT);
    const failure = await firstFailure(list, hits);
    const lines = [...hits.counts].sort()
      .map(([what, count]) => `${what.padEnd(34)} ${count}`);
    console.log(lines.join("\n"));
    if (failure !== undefined) {
      const { seed, cause } = failure;
      throw new Error(`[seed=${seed}] ${cause.message}`, { cause });
    }
    if (list.length < SEED_COUNT) return;
    for (const it of HA_FAULT_NAMES) assert(hits.counts.has(`fault: ${it}`));
    for (const it of EXPECTED) assert(hits.counts.has(it), `never ${it}`);
  },
);

test(
  "A pair with a planted bug breaks a promise",
  { timeout: TIMEOUT_MS },
  async () => {
    const list = Array.from({ length: PLANTED_SEEDS_MAX }, (_, it) => it + 1);
    for (const plant of HA_PLANTS) {
      const failure = await firstFailure(list, new HAHits(), plant);
      assert(failure !== undefined, `nobody finds ${plant}`);
      console.log(`${plant}: [seed=${failure.seed}] ${failure.cause.message}`);
    }
  },
);
