import { assert } from "@std/assert";
import { test } from "node:test";
import { type BackupKind, JsonFile } from "../../src/store/json_file.ts";
import type { SyncCall } from "../sim/sim_faults.ts";
import { SimClock } from "../sim/sim_clock.ts";
import { SimFileSystem } from "../sim/sim_file_system.ts";
import { SimRandom } from "../sim/sim_random.ts";
import { MemoryLogger } from "./memory_file_system.ts";

const PATH = "/data/store/config/topics.json";
const SEEDS = 100;

function parse(text: string): number {
  const { n } = JSON.parse(text) as { n: number };
  if (typeof n !== "number") throw new Error("n is missing");
  return n;
}

/** Lives of a process that writes 1, 2, 3, … until the power goes. Throws on a lost promise. */
async function runStory(
  seed: number,
  dropSync?: (call: SyncCall) => boolean,
  backup: BackupKind = "previous",
): Promise<void> {
  const random = new SimRandom(seed);
  const clock = new SimClock();
  const disk = new SimFileSystem({ random, clock, directories: ["/data"] });
  disk.faults.dropSync = dropSync;
  // A process that dies does so while it waits for a sync.
  disk.faults.syncDelayMs = () => 1 + random.nextInt(3);
  let acked = 0;
  let tried = 0;
  for (let life = 0; life < 8; life++) {
    const file = new JsonFile(disk, PATH, new MemoryLogger(), backup);
    const found = file.read(parse) ?? 0;
    assert(
      found >= acked && found <= tried,
      `found ${found}, acknowledged ${acked}, tried ${tried} [seed=${seed}]`,
    );
    for (let count = random.nextInt(4); count > 0; count--) {
      acked = tried = Math.max(tried, acked) + 1;
      await clock.complete(file.write(textOf(tried, random)));
    }
    tried += 1;
    let isDone = false;
    file.write(textOf(tried, random)).then(
      () => isDone = true,
      () => undefined,
    );
    await clock.run(random.nextInt(9));
    if (isDone) acked = tried;
    if (random.oneIn(4)) disk.kill();
    else disk.crash();
    clock.cancelAll();
  }
}

/** Longer and shorter by turns: a tail of old bytes would show. */
function textOf(n: number, random: SimRandom): string {
  return JSON.stringify({ n, pad: "x".repeat(random.nextInt(9_000)) });
}

async function failuresOf(
  dropSync?: (call: SyncCall) => boolean,
  backup?: BackupKind,
): Promise<string[]> {
  const failures: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    await runStory(seed, dropSync, backup).catch((error) =>
      failures.push(String(error.message))
    );
  }
  return failures;
}

test(`JsonFile keeps what it acknowledged through power cuts [seeds 1 to ${SEEDS}]`, async () => {
  for (const backup of ["previous", "same"] as const) {
    const failures = await failuresOf(undefined, backup);
    assert(failures.length === 0, failures.slice(0, 3).join("; "));
  }
});

test("JsonFile needs the sync of the file", async () => {
  assert((await failuresOf((it) => it.kind === "file")).length > 0);
});

test("JsonFile needs the sync of the folder", async () => {
  assert((await failuresOf((it) => it.kind === "directory")).length > 0);
});
