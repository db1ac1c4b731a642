/** `pocketmq store verify` over stores of the executable: nothing false, and nothing missed. */
import { assert, assertEquals } from "@std/assert";
import { readdirSync, realpathSync, rmSync } from "node:fs";
import { relative } from "node:path";
import process from "node:process";
import { test } from "node:test";
import {
  startBrokerProcess,
  withProcesses,
} from "../support/broker_process.ts";
import {
  type PocketMQProcess,
  runPocketMQ,
} from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { StoreContent } from "../support/store_content.ts";
import {
  checkDamages,
  checkDeletedBeginning,
} from "../support/store_damage.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

/** Files of every kind that are full after some hundred messages. */
const SIZES = [
  "mappedFileSizeConsumeQueue=2000",
  "maxHashSlotNum=500",
  "maxIndexNum=2000",
];
const COUNT = 3_000;

test("store verify is content with a running, a killed, a stopped and a shortened store, and finds each damage", async () => {
  await withTempDirectory(async (folder) => {
    await withProcesses(async (keep) => {
      const store = `${folder}/store`;
      const content = new StoreContent();
      const start = (...more: string[]) =>
        keep(startBrokerProcess(store, ...SIZES, ...more));
      await killedWhileSending(await start(), store, content);
      const broker = await start();
      const client = await RawClient.open(broker.address("broker"));
      await content.send(client, COUNT);
      await sound(store);
      client.close();
      assertEquals(await broker.stop(), 0);
      assert(await sound(store) >= content.messages.length);
      assert(readdirSync(`${store}/index`).length > 1);
      await inspectFromElsewhere(store);
      const victim = content.of("Spread", 1)[5]!;
      await checkDamages(store, victim);
      await checkDeletedBeginning(store);
      await shortened(await start("maxStoreBytes=4M"), store, content);
    });
  });
});

/** The keys hold wherever the broker.conf is read that they go into. */
async function inspectFromElsewhere(store: string): Promise<void> {
  const path = `./${relative(process.cwd(), store)}/`;
  const done = await runPocketMQ(["store", "inspect", path, "--json"]);
  assertEquals(done.code, 0, done.stderr);
  const keys = JSON.parse(done.stdout).apacheKeys;
  assert(keys.storePathRootDir.startsWith("/"), keys.storePathRootDir);
  assertEquals(realpathSync(keys.storePathRootDir), realpathSync(store));
  assertEquals(keys.storePathCommitLog, `${keys.storePathRootDir}/commitlog`);
  assertEquals(keys.mappedFileSizeConsumeQueue, "2000");
}

async function killedWhileSending(
  broker: PocketMQProcess,
  store: string,
  content: StoreContent,
): Promise<void> {
  const client = await RawClient.open(broker.address("broker"));
  await content.createTables(client);
  await content.sendUntilKilled(
    client,
    COUNT / 3,
    () => broker.stop("SIGKILL"),
  );
  client.close();
  await sound(store);
}

/** The broker itself deletes the beginning. */
async function shortened(
  broker: PocketMQProcess,
  store: string,
  content: StoreContent,
): Promise<void> {
  const oldest = () => readdirSync(`${store}/commitlog`).sort()[0]!;
  const client = await RawClient.open(broker.address("broker"));
  for (let round = 0; Number(oldest()) === 0; round++) {
    assert(round < 20, "nothing was deleted");
    await content.send(client, COUNT / 3);
  }
  client.close();
  assertEquals(await broker.stop(), 0);
  await sound(store);
  rmSync(store, { recursive: true });
}

/** Exit 0 without any error; returns how many records there are. */
async function sound(store: string): Promise<number> {
  const done = await runPocketMQ(["store", "verify", store, "--json"]);
  const { findings, recordCount } = JSON.parse(done.stdout);
  const errors = findings.filter((it: { severity: string }) =>
    it.severity === "error"
  );
  assertEquals(errors, []);
  assertEquals(done.code, 0, done.stderr);
  return recordCount;
}
