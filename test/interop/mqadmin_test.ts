/** Apache's mqadmin against our name server and broker. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { type Site, withSite } from "../support/site.ts";
import { inSync } from "./ha_pair.ts";
import { startNamesrv, withInteropSite } from "./interop_site.ts";
import { mqadmin, rowsOf } from "./mqadmin.ts";
import { OurBroker } from "./our_broker.ts";
import { APACHE_SERVER_VERSIONS } from "./versions.ts";

for (const version of APACHE_SERVER_VERSIONS) {
  test(`mqadmin ${version} reads and administers our cluster`, async () => {
    await withSite((site) => administer(version, site));
  });
}

const SEEN = ["-g", "seen-group", "-t", "SeenTopic"];

async function administer(version: string, site: Site): Promise<void> {
  await site.createTopic("SeenTopic");
  const hello = ["produce", "SeenTopic", "hello", "--count", "24", "--json"];
  const sent = await tool(site, ...hello, "--key", "seen-key");
  const { msgId } = JSON.parse(sent.trim().split("\n")[0]!);
  await tool(site, ...consume("18"));
  const n = ["-n", site.namesrv];
  const b = ["-b", site.broker];
  const outputs = await mqadmin(version, site.folder, [
    ["clusterList", ...n],
    ["brokerStatus", ...n, ...b],
    ["topicList", ...n],
    ["updateTopic", ...n, ...b, "-t", "MadeTopic", "-r", "3", "-w", "2"],
    ["topicRoute", ...n, "-t", "SeenTopic"],
    ["topicStatus", ...n, "-t", "SeenTopic"],
    ["consumerProgress", ...n, "-g", "seen-group"],
    ["consumerProgress", ...n],
    ["statsAll", ...n, "-t", "SeenTopic"],
    ["brokerConsumeStats", ...n, ...b],
    ["resetOffsetByTime", ...n, ...SEEN, "-s", "0"],
    ["consumerProgress", ...n, "-g", "seen-group"],
    ["cleanExpiredCQ", ...n, ...b],
    ["cleanUnusedTopic", ...n, ...b],
    ["deleteExpiredCommitLog", ...n, ...b],
    ["queryMsgByKey", ...n, "-t", "SeenTopic", "-k", "seen-key"],
  ]);
  checkByKey(outputs.pop()!, msgId);
  const [clusters, status, topics, made, route, positions, progress, groups] =
    outputs;
  const [stats, lags, reset, again, ...cleaned] = outputs.slice(8);
  checkClusterList(clusters!, site);
  checkBrokerStatus(status!);
  assert(rowsOf(topics!).some(([it]) => it === "SeenTopic"), topics!);
  assert(made!.includes("create topic to") && made!.includes("success"), made!);
  await checkMadeTopic(site);
  checkRoute(route!, site);
  checkTopicStatus(positions!);
  checkProgress(progress!, groups!);
  const row = rowsOf(stats!).find(([, it]) => it === "seen-group");
  assertEquals(row?.[2], "6", stats!);
  assertEquals(/Diff Total: (\d+)$/m.exec(lags!)?.[1], "6", lags!);
  const moved = rowsOf(reset!).filter((it) => it.at(-1) === "0");
  assertEquals(moved.length, 8, reset!);
  assertEquals(/Diff Total: (\d+)$/m.exec(again!)?.[1], "24", again!);
  for (const it of cleaned) assertEquals(it.trim(), "success");
}

/** All 24 have the key; each has an id of its own (scenario 112). */
function checkByKey(output: string, msgId: string): void {
  const ids = rowsOf(output).map(([id]) => id);
  assertEquals(new Set(ids).size, 24, output);
  assert(ids.includes(msgId), output);
}

function consume(count: string): string[] {
  return ["consume", "SeenTopic", "--group", "seen-group"]
    .concat("--from", "first", "--count", count);
}

async function tool(site: Site, ...args: string[]): Promise<string> {
  const done = await site.run(...args);
  assertEquals(done.code, 0, `${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

function checkClusterList(output: string, site: Site): void {
  const row = rowsOf(output).find((it) => it.includes(site.broker));
  assert(row !== undefined, output);
  assertEquals(row.slice(0, 1), ["DefaultCluster"], output);
  assertEquals(row[2], "0", output);
}

/** Lines `key : value`; the numbers of messages are of this site alone. */
function checkBrokerStatus(output: string): void {
  const values = new Map(
    output.split("\n").filter((line) => line.includes(":")).map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
  assertEquals(values.get("msgPutTotalTodayNow"), "24", output);
  assertEquals(values.get("dispatchBehindBytes"), "0", output);
  assertEquals(values.get("commitLogMinOffset"), "0", output);
  assert(Number(values.get("commitLogMaxOffset")) > 24 * 100, output);
}

async function checkMadeTopic(site: Site): Promise<void> {
  const shown = await site.run("topic", "route", "MadeTopic", "--json");
  const route = JSON.parse(shown.stdout);
  const [queue] = route.queueDatas;
  assertEquals([queue.readQueueNums, queue.writeQueueNums], [3, 2]);
}

function checkRoute(output: string, site: Site): void {
  // Java prints integer keys bare.
  const route = JSON.parse(output.replace(/\b(\d+):"/g, '"$1":"'));
  assertEquals(route.brokerDatas[0].brokerAddrs, { 0: site.broker });
  assertEquals(route.queueDatas[0].perm, 6);
}

/** Rows `brokerName queueId min max lastUpdated`; 5.x adds a line of its own rate. */
function checkTopicStatus(output: string): void {
  const rows = rowsOf(output).filter((row) => /^\d+$/.test(row[1]!));
  assertEquals(rows.length, 8, output);
  const sum = rows.reduce((total, row) => total + Number(row[3]), 0);
  assertEquals(sum, 24, output);
  assert(rows.every((row) => row[2] === "0"), output);
}

/** Of 24 messages 18 are consumed: the tool's own sums. */
function checkProgress(progress: string, groups: string): void {
  const total = /Diff Total: (\d+)$/m.exec(progress)?.[1];
  assertEquals(total, "6", progress);
  const row = rowsOf(groups).find(([it]) => it === "seen-group");
  assertEquals(row?.at(-1), "6", groups);
}

test("mqadmin 5.5.0 haStatus shows our pair", async () => {
  await withInteropSite(async (site) => {
    const namesrv = await startNamesrv(site);
    const master = await site.own(OurBroker.start({
      folder: `${site.folder}/master`,
      namesrv,
    }));
    const slave = await site.own(OurBroker.start({
      folder: `${site.folder}/slave`,
      namesrv,
      role: "SLAVE",
    }));
    await inSync(site, master, 1);
    const outputs = await mqadmin(
      "5.5.0",
      site.folder,
      [master, slave].map((
        it,
      ) => ["haStatus", "-n", namesrv, "-b", it.address]),
    );
    const [ofMaster, ofSlave] = outputs;
    assert(/^#MasterAddr\s+127\.0\.0\.1:/m.test(ofMaster!), ofMaster);
    assert(/^#InSyncSlaveNum\s+1$/m.test(ofMaster!), ofMaster);
    assert(/^127\.0\.0\.1:\d+ .* OK /m.test(ofMaster!), ofMaster);
    assert(ofSlave!.includes(master.haAddress), ofSlave);
  });
});
