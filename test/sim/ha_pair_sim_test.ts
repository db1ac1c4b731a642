import { test } from "node:test";
import { assert } from "@std/assert";
import { HAPair } from "./ha_pair.ts";
import { HAHits } from "./ha_hits.ts";
import { HA_PLANTS, type HAPlant } from "./ha_plants.ts";
import { HA_FAULT_NAMES } from "./ha_faults.ts";
import { seeds } from "./sim_random.ts";

/** Of one process; `scripts/test` runs 10,000 in several, each with its own `TEST_SEEDS`. */
const SEED_COUNT = 1_000;
const SEEDS = seeds(SEED_COUNT);
/** Schedules after which a planted bug must have shown. */
const PLANTED_SEEDS_MAX = 300;
const TIMEOUT_MS = 600_000;

/** What every run has to meet. */
const EXPECTED = [
  ...HA_FAULT_NAMES.map((it) => `fault: ${it}`),
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
  "put at the former master: SERVICE_NOT_AVAILABLE",
  "put at the former master: SLAVE_NOT_AVAILABLE",
  "SLAVE is healthy",
  "SLAVE is disconnected",
  "SLAVE is stalled",
  "SLAVE is diverged",
  "SLAVE is needs-reseed",
  "SYNC_MASTER is healthy",
  "SYNC_MASTER is alone",
  "SYNC_MASTER is diverged",
  "SYNC_MASTER is needs-reseed",
  "promotion",
  "promotion: not the first",
  "promotion refused",
  "former master: fenced",
  "former master: open",
  "demotion: cut",
  "demotion: nothing cut",
  "cure by hand: reseed",
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
  `A pair keeps its promises through ${SEEDS.length} schedules of faults`,
  { timeout: TIMEOUT_MS },
  async () => {
    const hits = new HAHits(EXPECTED);
    const failure = await firstFailure(SEEDS, hits);
    hits.print();
    if (failure !== undefined) {
      const { seed, cause } = failure;
      throw new Error(`[seed=${seed}] ${cause.message}`, { cause });
    }
    // Fewer may miss what is rare.
    if (SEEDS.length >= SEED_COUNT) hits.check();
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
