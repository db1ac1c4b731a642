/** Roles changed by hand while clients go on: by the executable, with our name server. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/eventually.ts";
import { FailoverBroker, inSync } from "../support/failover_site.ts";
import {
  type Finished,
  PocketMQProcess,
  runPocketMQ,
} from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const SETTLE_MS = 30_000;

interface Site {
  readonly namesrv: string;
  readonly a: FailoverBroker;
  readonly b: FailoverBroker;
}

/** A SYNC_MASTER and its slave, found by a name server of ours; everything ends afterwards. */
function withPair(run: (site: Site) => Promise<void>): Promise<void> {
  return withTempDirectory(async (folder) => {
    const server = await PocketMQProcess.start([
      "namesrv",
      "--namesrv-port",
      "0",
      "--bind",
      "127.0.0.1",
      "--set",
      `kvConfigPath=${folder}/kvConfig.json`,
    ]);
    const namesrv = server.address("namesrv");
    const a = new FailoverBroker(`${folder}/a`, namesrv, [
      "brokerRole=SYNC_MASTER",
    ]);
    const b = new FailoverBroker(`${folder}/b`, namesrv, [
      "brokerRole=SLAVE",
      "brokerId=1",
    ]);
    try {
      await a.start();
      await b.start();
      await inSync(a);
      await run({ namesrv, a, b });
    } finally {
      await a.process?.stop();
      await b.process?.stop();
      await server.stop();
    }
  });
}

function ha(broker: FailoverBroker, ...args: string[]): Promise<Finished> {
  const admin = `http://${broker.process!.address("admin")}`;
  return runPocketMQ(["ha", ...args, "--admin", admin]);
}

async function produce(namesrv: string, from: number, count: number) {
  for (let number = from; number < from + count; number++) {
    const sent = await runPocketMQ([
      "produce",
      "T",
      `m${number}`,
      "-n",
      namesrv,
    ]);
    assertEquals(sent.code, 0, sent.stderr);
    assert(sent.stdout.includes("SEND_OK"), sent.stdout);
  }
}

async function consume(namesrv: string, count: number): Promise<string[]> {
  const read = await runPocketMQ([
    "consume",
    "T",
    "--group",
    "g",
    "--from",
    "first",
    "--count",
    String(count),
    "--timeout",
    "30",
    "-n",
    namesrv,
  ]);
  assertEquals(read.code, 0, read.stderr);
  return read.stdout.trim().split("\n");
}

/** Where groups stand, as the broker tells its slaves. */
async function positions(broker: FailoverBroker): Promise<string> {
  const client = await RawClient.open(broker.address);
  const { body } = await client.invoke(43);
  client.close();
  const text = new TextDecoder().decode(body);
  return JSON.stringify(JSON.parse(text).offsetTable);
}

const bodies = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `m${from + index}`).sort();

test("producers and consumers go on with the promoted slave, and after a planned swap back", () =>
  withPair(async ({ namesrv, a, b }) => {
    await produce(namesrv, 0, 5);
    assertEquals((await consume(namesrv, 5)).sort(), bodies(0, 5));
    const early = await ha(b, "promote");
    assertEquals(early.code, 1);
    assert(early.stderr.includes(a.address), early.stderr);
    // What was committed a moment ago may be on one node only.
    await eventually(
      async () => await positions(a) === await positions(b),
      { timeoutMs: SETTLE_MS, message: "both have the same positions" },
    );

    await a.kill();
    const promoted = await ha(b, "promote");
    assertEquals(promoted.code, 0, promoted.stderr);
    assert(promoted.stdout.includes("SYNC_MASTER of epoch 1"), promoted.stdout);
    await a.start();
    const demoted = await ha(a, "demote");
    assertEquals(demoted.code, 0, demoted.stderr);
    await inSync(b);
    await produce(namesrv, 5, 5);
    // Positions are where they were: nothing comes twice, nothing is left out.
    assertEquals((await consume(namesrv, 5)).sort(), bodies(5, 5));

    // The same configuration as ever: haRole.json decides.
    for (const it of [a, b]) {
      await it.process!.stop();
      await it.start();
    }
    const roles = [await a.ha(), await b.ha()].map((it) => [
      it.role,
      it.brokerId,
      it.roleFrom,
    ]);
    assertEquals(roles, [
      ["SLAVE", 1, "haRole.json"],
      ["SYNC_MASTER", 0, "haRole.json"],
    ]);
    await inSync(b);

    const back = await ha(b, "demote");
    assertEquals(back.code, 0, back.stderr);
    const again = await ha(a, "promote");
    assertEquals(again.code, 0, again.stderr);
    assert(again.stdout.includes("epoch 2"), again.stdout);
    await inSync(a);
    await produce(namesrv, 10, 3);
    assertEquals((await consume(namesrv, 3)).sort(), bodies(10, 3));
  }));

test("messages that only the old master has are kept aside, and store dump reads them", () =>
  withPair(async ({ a, b }) => {
    assertEquals((await a.send(20)).ok, 20);
    await inSync(a);
    const forced = await ha(b, "promote", "--force");
    assertEquals(forced.code, 0, forced.stderr);
    assert(forced.stdout.includes("forced, although"), forced.stdout);
    assertEquals((await b.send(3)).refused.length, 3);
    await eventually(async () => (await a.ha()).state === "diverged", {
      timeoutMs: SETTLE_MS,
    });
    await a.kill();
    // What an old master may have taken before it knew: its log goes on by itself.
    await appendAlone(a);
    await a.start();
    const demoted = await ha(a, "demote");
    assertEquals(demoted.code, 0, demoted.stderr);
    await inSync(b);
    const [kept] = readdirSync(`${a.folder}/aside`);
    const dump = await runPocketMQ([
      "store",
      "dump",
      `${a.folder}/aside/${kept}`,
    ]);
    assertEquals(dump.code, 0, dump.stderr);
    assertEquals(dump.stdout.trim().split("\n").length, 4);
    assert(demoted.stdout.includes(`aside/${kept}`), demoted.stdout);
    const above = await runPocketMQ(["store", "dump", `${a.folder}/aside`]);
    assertEquals(above.code, 2);
    assert(above.stderr.includes(`aside/${kept}`), above.stderr);
    // Less than four pages of new data are flushed every 10 s, by a clock of each.
    await eventually(
      async () => (await a.ha()).flushedOffset === (await b.ha()).flushedOffset,
      {
        timeoutMs: 15_000,
      },
    );
  }));

/** Starts the broker without its pair, for four messages that nobody else gets. */
async function appendAlone(broker: FailoverBroker): Promise<void> {
  rmSync(`${broker.folder}/config/haPeers.json`, { force: true });
  const alone = await PocketMQProcess.start([
    "broker",
    "--bind",
    "127.0.0.1",
    "--listen-port",
    "0",
    "--admin-port",
    "0",
    "--store",
    broker.folder,
    "--set",
    "brokerName=another",
    "--set",
    "mappedFileSizeCommitLog=1M",
    "--set",
    "maxMessageSize=64K",
  ]);
  try {
    const client = await RawClient.open(alone.address("broker"));
    for (let n = 0; n < 4; n++) {
      assertEquals((await client.send("T", 0, new Uint8Array(50))).code, 0);
    }
    client.close();
  } finally {
    await alone.stop();
  }
}

test("a promotion that cannot be written ends the broker with its reason, as a start would", () =>
  withPair(async ({ a, b }) => {
    assertEquals((await a.send(5)).ok, 5);
    await inSync(a);
    await a.kill();
    mkdirSync(`${b.folder}/config/haRole.json.tmp`);
    const slave = b.process!;
    const failed = await ha(b, "promote");
    assertEquals(failed.code, 1);
    assert(failed.stderr.includes("haRole.json.tmp"), failed.stderr);
    assertEquals(await slave.exited, 2);
    const sentence = slave.stderr.trim().split("\n").at(-1)!;
    assert(sentence.startsWith("pocketmq: "), sentence);
    assert(sentence.includes("haRole.json.tmp"), sentence);
    // Nothing was accepted: it is the slave that it was.
    rmSync(`${b.folder}/config/haRole.json.tmp`, {
      recursive: true,
      force: true,
    });
    await b.start();
    assertEquals((await b.ha()).role, "SLAVE");
  }));

test("a master changes between SYNC and ASYNC at once, and is no SLAVE by a change of a key", () =>
  withPair(async ({ namesrv, a, b }) => {
    const set = (role: string, key = "brokerRole") =>
      runPocketMQ([
        "config",
        "set",
        `${key}=${role}`,
        "--broker",
        a.address,
        "-n",
        namesrv,
      ]);
    await b.kill();
    assertEquals((await a.send(1)).refused, [11]);
    const changed = await set("ASYNC_MASTER");
    assertEquals(changed.code, 0, changed.stderr);
    assertEquals((await a.send(1)).ok, 1);
    const slave = await set("SLAVE");
    assertEquals(slave.code, 1);
    assert(slave.stderr.includes("pocketmq ha demote"), slave.stderr);
    const admin = `http://${a.process!.address("admin")}/admin/ha/role`;
    const answer = await fetch(admin, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"role":"SYNC_MASTER"}',
    });
    assertEquals([answer.status, (await answer.json()).role], [
      200,
      "SYNC_MASTER",
    ]);
    assertEquals((await a.send(1)).refused, [11]);
    // A role that haRole.json holds is changed there.
    const alone = await ha(a, "demote", "--force");
    assertEquals(alone.code, 0, alone.stderr);
    const id = await set("3", "brokerId");
    assertEquals(id.code, 1, id.stdout);
    assert(id.stderr.includes("pocketmq ha demote"), id.stderr);
    const back = await ha(a, "promote", "--role", "ASYNC_MASTER", "--force");
    assertEquals(back.code, 0, back.stderr);
    assertEquals((await set("SYNC_MASTER")).code, 0);
    const record = readFileSync(`${a.folder}/config/haRole.json`, "utf8");
    assertEquals(JSON.parse(record).role, "SYNC_MASTER");
    assertEquals((await a.ha()).role, "SYNC_MASTER");
  }));
