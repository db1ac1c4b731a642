/** A master with two slaves whose roles change: one place, one master, and nothing lost unseen. */
import { readdirSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/eventually.ts";
import {
  changeRole,
  FailoverBroker,
  isRemembered,
  withNamesrv,
} from "../support/failover_site.ts";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const PATIENCE = { timeoutMs: 30_000 };
const STANDSTILL_MS = 3_500;

type Trio = readonly [FailoverBroker, FailoverBroker, FailoverBroker];

const SLAVES = [["b", 1], ["c", 2]] as const;

/** A master and its slaves, two unless said, that have all of its 50 messages; everything ends afterwards. */
async function withTrio(
  folder: string,
  namesrv: string,
  masterRole: string,
  run: (trio: Trio) => Promise<void>,
  slaveCount = 2,
): Promise<void> {
  const a = new FailoverBroker(`${folder}/a`, namesrv, [
    `brokerRole=${masterRole}`,
  ]);
  const started = [a];
  try {
    await a.start();
    for (const [name, brokerId] of SLAVES.slice(0, slaveCount)) {
      const slave = new FailoverBroker(`${folder}/${name}`, namesrv, [
        "brokerRole=SLAVE",
        `brokerId=${brokerId}`,
        ...namesrv === "" ? [`haMasterAddress=${a.haAddress}`] : [],
      ]);
      started.push(slave);
      await slave.start();
    }
    await eventually(() => follows(a, slaveCount), PATIENCE);
    assertEquals((await a.send(50)).ok, 50);
    await eventually(() => follows(a, slaveCount), PATIENCE);
    await run(started as unknown as Trio);
  } finally {
    for (const it of started) await it.kill();
  }
}

/** True when so many slaves have all that the master has. */
async function follows(
  master: FailoverBroker,
  count: number,
): Promise<boolean> {
  const { haConnectionInfo, inSyncSlaveNums } = await master.ha();
  const links = haConnectionInfo as { diff: number | null }[];
  return inSyncSlaveNums === count && links.length === count &&
    links.every((it) => it.diff === 0);
}

async function ok(done: Promise<{ status: number; detail: string }>) {
  const { detail, status } = await done;
  assertEquals(status, 200, detail);
  return detail;
}

/** The ids of the three differ. */
async function assertDistinctIds(trio: Trio): Promise<void> {
  const ids = await Promise.all(
    trio.map(async (it) => (await it.ha()).brokerId as number),
  );
  assertEquals(new Set(ids).size, 3, ids.join());
  assert(ids.includes(0), ids.join());
}

test("of two slaves that are promoted at one time one wins, the other is told 409 and follows", () =>
  withTempDirectory((folder) =>
    withNamesrv(
      folder,
      (namesrv) => withTrio(folder, namesrv, "SYNC_MASTER", bothPromoted),
    )
  ));

async function bothPromoted(trio: Trio): Promise<void> {
  const [a, b, c] = trio;
  await a.kill();
  const slaves = [b, c];
  const answers = await Promise.all(
    slaves.map((it) => changeRole(it, { role: "MASTER" })),
  );
  const shown = JSON.stringify(answers);
  assertEquals(answers.map((it) => it.status).sort(), [200, 409], shown);
  const won = answers.findIndex((it) => it.status === 200);
  const [winner, loser] = [slaves[won]!, slaves[1 - won]!];
  const { detail } = answers[1 - won]!;
  assert(detail.includes(winner.address), detail);
  const [first, second] = [await winner.ha(), await loser.ha()];
  assertEquals([first.role, first.epoch], ["SYNC_MASTER", 1]);
  assertEquals(second.role, "SLAVE");
  await eventually(() => follows(winner, 1), PATIENCE);
  assertEquals((await winner.send(10)).ok, 10);
  assertEquals((await loser.send(3)).refused, [14, 14, 14]);
  assertEquals(await winner.messageCount(), 60);
  // The lost one comes back, and takes no id of the others; nor does the winner later.
  await a.start();
  await ok(changeRole(a, { role: "SLAVE" }));
  await eventually(() => follows(winner, 2), PATIENCE);
  await assertDistinctIds(trio);
  await ok(changeRole(winner, { role: "SLAVE" }));
  await ok(changeRole(loser, { role: "MASTER" }));
  await eventually(() => follows(loser, 2), PATIENCE);
  await assertDistinctIds(trio);
  assertEquals((await loser.send(5)).ok, 5);
  assertEquals(await loser.messageCount(), 65);
}

test("of two that were promoted by force without seeing each other one keeps the place", () =>
  withTempDirectory((folder) =>
    withTrio(folder, "", "ASYNC_MASTER", async ([a, b, c]) => {
      // Each asks the master every 5 s who else follows it.
      await eventually(
        () => isRemembered(b, c) && isRemembered(c, b),
        PATIENCE,
      );
      await a.kill();
      // A slave that does not answer may have more: by force only.
      stop(c);
      const tried = await changeRole(b, { role: "MASTER" });
      assertEquals(tried.status, 409);
      assert(tried.detail.includes(c.address), tried.detail);
      await ok(changeRole(b, { role: "MASTER", force: true }));
      assertEquals((await b.send(10)).ok, 10);
      stop(b);
      goOn(c);
      await ok(changeRole(c, { role: "MASTER", force: true }));
      assertEquals((await c.send(7)).ok, 7);
      goOn(b);
      const isDiverged = async (it: FailoverBroker) =>
        (await it.ha()).state === "diverged";
      await eventually(
        async () => await isDiverged(b) !== await isDiverged(c),
        PATIENCE,
      );
      const [kept, lost] = await isDiverged(b) ? [c, b] : [b, c];
      const taken = kept === b ? 60 : 57;
      const { epoch, reason } = await lost.ha();
      assertEquals([epoch, (await kept.ha()).epoch], [1, 1]);
      assert(String(reason).includes(kept.address), String(reason));
      assert(String(reason).includes("`pocketmq ha demote`"), String(reason));
      assertEquals((await lost.send(2)).refused, [14, 14]);
      // As the state says.
      const admin = `http://${lost.process!.address("admin")}`;
      const demoted = await runPocketMQ(["ha", "demote", "--admin", admin]);
      assertEquals(demoted.code, 0, demoted.stderr);
      await eventually(() => follows(kept, 1), PATIENCE);
      const [aside] = readdirSync(`${lost.folder}/aside`);
      assert(demoted.stdout.includes(`aside/${aside}`), demoted.stdout);
      const path = `${lost.folder}/aside/${aside}`;
      const dump = await runPocketMQ(["store", "dump", path]);
      const own = dump.stdout.trim().split("\n").length;
      assertEquals([await kept.messageCount(), own], [taken, 117 - 50 - taken]);
      assertEquals(await lost.messageCount(), taken);
    })
  ));

function stop(broker: FailoverBroker): void {
  process.kill(broker.process!.pid, "SIGSTOP");
}

function goOn(broker: FailoverBroker): void {
  process.kill(broker.process!.pid, "SIGCONT");
}

test("a slave that stood still is promoted by force only, while its master is away", () =>
  withTempDirectory((folder) =>
    withTrio(folder, "", "ASYNC_MASTER", async ([a, b]) => {
      stop(b);
      assertEquals((await a.send(5)).ok, 5);
      await new Promise((resolve) => setTimeout(resolve, STANDSTILL_MS));
      await a.kill();
      goOn(b);
      const tried = await changeRole(b, { role: "MASTER" });
      assertEquals(tried.status, 409);
      assert(tried.detail.includes("stood still"), tried.detail);
      const promoted = await changeRole(b, { role: "MASTER", force: true });
      assertEquals(promoted.status, 200);
      assert(promoted.detail.includes("forced, although"), promoted.detail);
      // What had come to its socket counts.
      assert(await b.messageCount() >= 50);
    }, 1)
  ));
