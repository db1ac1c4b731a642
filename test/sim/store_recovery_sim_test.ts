import { test } from "node:test";
import { assert } from "@std/assert";
import type { SyncCall } from "./sim_faults.ts";
import { seeds } from "./sim_random.ts";
import { StoreStory, type StoryOptions } from "./store_story.ts";

const SEED_COUNT = 1_000;
/** Lives after which a missing sync must have shown. */
const TAKEN_OUT_SEEDS_MAX = 1_000;
const TIMEOUT_MS = 120_000;

/** Every place that is synced, by name. */
const SYNC_SITES: readonly [name: string, kind: SyncCall["kind"], RegExp][] = [
  ["folder above the root", "directory", /^\/data$/],
  ["root folder", "directory", /^\/data\/store$/],
  ["commitlog folder", "directory", /\/commitlog$/],
  ["consumequeue folder", "directory", /\/consumequeue$/],
  ["topic folder", "directory", /\/consumequeue\/[^/]+$/],
  ["queue folder", "directory", /\/consumequeue\/[^/]+\/\d$/],
  ["index folder", "directory", /\/index$/],
  ["config folder", "directory", /\/config$/],
  ["deletedTopics.json", "file", /\/deletedTopics\.json\.tmp$/],
  ["checkpoint", "file", /\/checkpoint$/],
  ["CommitLog file", "file", /\/commitlog\/\d+$/],
  ["ConsumeQueue file", "file", /\/consumequeue\/.+\/\d+$/],
  ["index file", "file", /\/index\/\d+$/],
  ["whole file system", "whole", /\/consumequeue$/],
];

function siteOf(call: SyncCall): string | undefined {
  return SYNC_SITES.find(([, kind, path]) =>
    kind === call.kind && path.test(call.path)
  )?.[0];
}

/** The first seed whose story ends badly, and how; undefined when all end well. */
async function firstFailure(
  list: readonly number[],
  options: StoryOptions,
): Promise<{ seed: number; cause: Error } | undefined> {
  for (const seed of list) {
    try {
      await new StoreStory(seed, options).run();
    } catch (cause) {
      return { seed, cause: cause as Error };
    }
  }
  return undefined;
}

test(
  `MessageStore keeps its promises through power cuts and kills, ${SEED_COUNT} seeds`,
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    const unknown = new Set<string>();
    const failure = await firstFailure(seeds(SEED_COUNT), {
      dropSync: (call) => {
        if (siteOf(call) === undefined) unknown.add(call.path);
        return false;
      },
    });
    if (failure !== undefined) {
      const { seed, cause } = failure;
      throw new Error(`[seed=${seed}] ${cause.message}`, { cause });
    }
    assert(unknown.size === 0, `synced without a name: ${[...unknown]}`);
  },
);

test(
  "MessageStore needs every one of its syncs: without any one a promise is broken",
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    const list = Array.from({ length: TAKEN_OUT_SEEDS_MAX }, (_, it) => it + 1);
    for (const [name] of SYNC_SITES) {
      const failure = await firstFailure(list, {
        dropSync: (call) => siteOf(call) === name,
      });
      assert(failure !== undefined, `nobody misses the sync of the ${name}`);
    }
  },
);
