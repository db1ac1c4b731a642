/** A master that was overtaken while it was away accepts nothing when it comes back. */
import process from "node:process";
import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { eventually } from "../support/eventually.ts";
import {
  brokersAt,
  FailoverBroker,
  hammer,
  inSync,
  isRemembered,
  sendAll,
} from "../support/failover_site.ts";
import { PocketMQProcess } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

interface Pair {
  readonly old: FailoverBroker;
  readonly promoted: FailoverBroker;
}

/** A pair with 50 messages on both nodes; everything is gone afterwards. */
function withPair(
  namesrv: string,
  folder: string,
  run: (pair: Pair) => Promise<void>,
): Promise<void> {
  const old = new FailoverBroker(`${folder}/a`, namesrv, []);
  let promoted: FailoverBroker | null = null;
  const start = async () => {
    await old.start();
    promoted = new FailoverBroker(`${folder}/b`, namesrv, [
      "brokerRole=SLAVE",
      "brokerId=1",
      `haMasterAddress=${old.haAddress}`,
    ]);
    await promoted.start();
    assertEquals((await old.send(50)).ok, 50);
    await inSync(old);
    // Each knows where the other lives, before anything happens.
    const slave = promoted;
    await eventually(
      () => isRemembered(old, slave) && isRemembered(slave, old),
      { timeoutMs: 15_000 },
    );
    await run({ old, promoted });
  };
  return start().finally(async () => {
    await old.kill();
    await promoted?.kill();
  });
}

async function promote(
  broker: FailoverBroker,
  ...flags: string[]
): Promise<void> {
  const { code, stdout, stderr } = await broker.promote(...flags);
  assertEquals(code, 0, stdout + stderr);
}

async function assertFenced({ old, promoted }: Pair): Promise<void> {
  const { reason, state } = await old.ha();
  assertEquals(state, "diverged");
  for (const it of [promoted.address, "epoch 1", "pocketmq ha demote"]) {
    assert(String(reason).includes(it), String(reason));
  }
  const { ok, refused } = await old.send(20);
  assertEquals([ok, new Set(refused)], [0, new Set([14])]);
  // No change of topics, nobody to follow it; but it can be read.
  const client = await RawClient.open(old.address);
  const changed = await client.invoke(17, {
    topic: "U",
    defaultTopic: "TBW102",
    readQueueNums: "1",
    writeQueueNums: "1",
    perm: "6",
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: "0",
    order: "false",
  });
  assertEquals([changed.code, changed.remark], [1, reason as string]);
  assertEquals((await client.pull("g", "T", 0, 0)).code, 0);
  client.close();
  await assertRejects(async () => {
    const link = await RawClient.open(old.haAddress);
    await link.invoke(0);
  });
  const ready = await fetch(`http://${old.process!.address("admin")}/readyz`);
  assertEquals(ready.status, 503);
  await ready.body?.cancel();
}

test("an old master started again while the promoted one lives accepts nothing and takes no route", () =>
  withTempDirectory(async (folder) => {
    const server = await PocketMQProcess.start([
      "namesrv",
      "--namesrv-port",
      "0",
      "--bind",
      "127.0.0.1",
      "--set",
      `kvConfigPath=${folder}/kvConfig.json`,
    ]);
    try {
      const namesrv = server.address("namesrv");
      await withPair(namesrv, folder, (it) => restarted(namesrv, it));
    } finally {
      await server.stop();
    }
  }));

async function restarted(namesrv: string, pair: Pair): Promise<void> {
  const { old, promoted } = pair;
  await old.kill();
  await promote(promoted);
  await eventually(async () => {
    const shown = await brokersAt(namesrv);
    return shown.includes(promoted.address);
  }, { timeoutMs: 15_000 });
  let isOver = false;
  const sends = hammer(old.address, () => isOver);
  const toNew = hammer(promoted.address, () => isOver);
  await old.start();
  await assertFenced(pair);
  isOver = true;
  const before = await sends;
  assertEquals(before.ok, 0);
  assert(before.refused > 0);
  const shown = await brokersAt(namesrv);
  assert(shown.includes(promoted.address), shown);
  assert(!shown.includes(old.address), shown);
  const { ok, refused } = await toNew;
  assertEquals(refused, 0);
  assertEquals(await promoted.messageCount(), 50 + ok);
  assertEquals(await old.messageCount(), 50);
  // It stays so while the promoted one is away, also over a start.
  await promoted.kill();
  await old.kill();
  await old.start();
  await assertFenced(pair);
  // Only somebody who knows that the other one is gone for good changes that.
  const tried = await old.promote();
  assertEquals(tried.code, 1);
  assert(tried.stderr.includes(promoted.address), tried.stderr);
  await promote(old, "--force");
  assertEquals((await old.send(10)).ok, 10);
  await promoted.start();
  const { epoch, reason, state } = await promoted.ha();
  assertEquals([epoch, state], [1, "diverged"]);
  assert(String(reason).includes("epoch 2"), String(reason));
}

test("without a name server the old master asks the slave that it had", () =>
  withTempDirectory((folder) =>
    withPair("", folder, async (pair) => {
      await pair.old.kill();
      await promote(pair.promoted);
      await pair.old.start();
      await assertFenced(pair);
      assertEquals((await pair.promoted.send(10)).ok, 10);
    })
  ));

test("a master that stood still while its slave was promoted accepts nothing when it goes on", () =>
  withTempDirectory((folder) =>
    withPair("", folder, async (pair) => {
      const { old, promoted } = pair;
      const client = await RawClient.open(old.address);
      process.kill(old.process!.pid, "SIGSTOP");
      try {
        await promote(promoted, "--force");
        // Longer than what counts as a standstill; these wait in the socket of the stopped one.
        await new Promise((resolve) => setTimeout(resolve, 3_500));
        const sends = sendAll(client, 100);
        process.kill(old.process!.pid, "SIGCONT");
        const { ok, refused } = await sends;
        assertEquals([ok, new Set(refused)], [0, new Set([14])]);
      } finally {
        process.kill(old.process!.pid, "SIGCONT");
        client.close();
      }
      await eventually(async () => (await old.ha()).state === "diverged");
      await assertFenced(pair);
    })
  ));

test("a running master gives way when its slave is promoted", () =>
  withTempDirectory((folder) =>
    withPair("", folder, async (pair) => {
      await promote(pair.promoted, "--force");
      // Told by the promoted one itself, sooner than with its own next look.
      await eventually(async () => (await pair.old.ha()).state === "diverged", {
        timeoutMs: 3_000,
      });
      await assertFenced(pair);
    })
  ));
