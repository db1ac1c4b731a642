/** A slave that was away for too long, with real processes: by itself, by command, and killed meanwhile. */
import { existsSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { startBrokerProcess } from "../support/broker_process.ts";
import { eventually } from "../support/eventually.ts";
import { PocketMQProcess, runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const WAIT = { timeoutMs: 60_000 };
/** Kills while the slave begins anew. */
const KILL_ROUNDS = 4;

function startBroker(folder: string, ...settings: string[]) {
  return startBrokerProcess(
    folder,
    "mappedFileSizeCommitLog=256K",
    ...settings,
  );
}

function startSlave(
  folder: string,
  master: PocketMQProcess,
  ...settings: string[]
) {
  return startBroker(
    `${folder}/s`,
    "brokerRole=SLAVE",
    "brokerId=1",
    `haMasterAddress=${master.address("ha")}`,
    ...settings,
  );
}

async function send(master: PocketMQProcess, count: number): Promise<void> {
  const client = await RawClient.open(master.address("broker"));
  for (let sent = 0; sent < count; sent += 50) {
    const answers = await Promise.all(
      Array.from(
        { length: 50 },
        (_, n) => client.send("T", n % 4, new Uint8Array(2_000).fill(n)),
      ),
    );
    for (const it of answers) assertEquals(it.code, 0, it.remark ?? "");
  }
  client.close();
}

// deno-lint-ignore no-explicit-any -- what an answer looks like is what is tested
async function statusOf(node: PocketMQProcess): Promise<Record<string, any>> {
  const answer = await fetch(`http://${node.address("admin")}/admin/ha`);
  return answer.ok ? await answer.json() : {};
}

function ha(verb: string, node: PocketMQProcess, ...more: string[]) {
  const admin = `http://${node.address("admin")}`;
  return runPocketMQ(["ha", verb, "--admin", admin, ...more]);
}

/** The offsets of all records under a folder. */
async function recordsIn(path: string): Promise<number[]> {
  const all = ["--count", "1000000"];
  const { code, stderr, stdout } = await runPocketMQ([
    "store",
    "dump",
    path,
    ...all,
  ]);
  assertEquals(code, 0, stdout.slice(-300) + stderr);
  return stdout.split("\n").filter((it) => it !== "")
    .map((it) => Number(it.split(" ")[0]));
}

/** A master that keeps 1 MiB, and a slave's folder that ends long before. */
async function leftBehind(
  folder: string,
  ...settings: string[]
): Promise<PocketMQProcess> {
  const master = await startBroker(
    `${folder}/m`,
    "maxStoreBytes=1M",
    ...settings,
  );
  const slave = await startSlave(folder, master);
  await send(master, 50);
  await eventually(
    async () => (await statusOf(slave)).haClientRuntimeInfo?.diff === 0,
    WAIT,
  );
  assertEquals(await slave.stop(), 0);
  await send(master, 1_500);
  assert((await statusOf(master)).commitLogMinOffset > 1_000_000);
  return master;
}

/** The slave holds what its master holds, byte for byte. */
async function checkEqual(
  folder: string,
  master: PocketMQProcess,
  slave: PocketMQProcess,
): Promise<void> {
  await eventually(async () => {
    const { haClientRuntimeInfo, state } = await statusOf(slave);
    return state === "healthy" && haClientRuntimeInfo?.diff === 0;
  }, WAIT);
  const { commitLogMinOffset } = await statusOf(master);
  assertEquals((await statusOf(slave)).commitLogMinOffset, commitLogMinOffset);
  assertEquals(await slave.stop(), 0);
  assertEquals(await master.stop(), 0);
  const verified = await runPocketMQ(["store", "verify", `${folder}/s`]);
  assertEquals(verified.code, 0, verified.stdout + verified.stderr);
  assertEquals(
    await recordsIn(`${folder}/s`),
    await recordsIn(`${folder}/m`),
  );
}

function asidesIn(folder: string): string[] {
  const path = `${folder}/s/aside`;
  if (!existsSync(path)) return [];
  return readdirSync(path).map((it) => `${path}/${it}`);
}

test("ha reseed: one command, the answer names the folder, store dump reads it", () =>
  withTempDirectory(async (folder) => {
    const master = await leftBehind(folder);
    const slave = await startSlave(folder, master, "haAutoReseed=false");
    try {
      await eventually(
        async () => (await statusOf(slave)).state === "needs-reseed",
        WAIT,
      );
      const seen = await ha("status", slave);
      assertEquals(seen.code, 1);
      assert(seen.stdout.includes('run "pocketmq ha reseed"'), seen.stdout);
      const refused = await ha("reseed", master);
      assertEquals(refused.code, 1);
      assert(
        refused.stderr.includes("Only a slave is re-seeded"),
        refused.stderr,
      );
      const done = await ha("reseed", slave, "--json");
      assertEquals(done.code, 0, done.stderr);
      const { action, asideDirectory, minOffset } = JSON.parse(done.stdout);
      assertEquals([action, minOffset], ["reseed", 0]);
      assertEquals(asidesIn(folder), [asideDirectory]);
      await checkEqual(folder, master, slave);
      assertEquals((await recordsIn(asideDirectory)).length, 50);
    } finally {
      await slave.stop("SIGKILL");
      await master.stop("SIGKILL");
    }
  }));

test("a slave killed at any moment while it begins anew loses nothing, and comes back", () =>
  withTempDirectory(async (folder) => {
    const master = await leftBehind(
      folder,
      "haFlowControlEnable=true",
      "maxHaTransferByteInSecond=300K",
    );
    let slave: PocketMQProcess | null = null;
    try {
      for (let round = 0; round < KILL_ROUNDS; round++) {
        slave = await startSlave(folder, master);
        // At once, then later and later in the copy.
        const bytes = round * 150_000;
        await eventually(
          async () => {
            if (asidesIn(folder).length === 0) return false;
            if (bytes === 0) return true;
            const { flushedOffset, commitLogMinOffset } = await statusOf(
              slave!,
            );
            return flushedOffset - commitLogMinOffset >= bytes;
          },
          WAIT,
        );
        await slave.stop("SIGKILL");
      }
      slave = await startSlave(folder, master);
      await checkEqual(folder, master, slave);
      // Nothing is moved twice, and what the slave had is still there.
      const counts = await Promise.all(asidesIn(folder).map(recordsIn));
      assertEquals(counts.map((it) => it.length), [50]);
    } finally {
      await slave?.stop("SIGKILL");
      await master.stop("SIGKILL");
    }
  }));
