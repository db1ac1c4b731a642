import { test } from "node:test";
import { seeds } from "./sim_random.ts";
import { StoreStory } from "./store_story.ts";

const SEED_COUNT = 1_000;

test(`MessageStore keeps every acknowledged message through power cuts, ${SEED_COUNT} seeds`, async () => {
  for (const seed of seeds(SEED_COUNT)) {
    try {
      await new StoreStory(seed).run();
    } catch (cause) {
      throw new Error(`[seed=${seed}] ${(cause as Error).message}`, { cause });
    }
  }
});
