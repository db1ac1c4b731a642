/** Our tools and the members of stock clients: what they say, one message by hand, a reset by them. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import {
  type InteropSite,
  startNamesrv,
  withInteropSite,
} from "./interop_site.ts";
import { Member } from "./java.ts";
import { OurBroker } from "./our_broker.ts";
import { ROCKETMQ_VERSIONS } from "./versions.ts";

const TOPIC = "Called";
const COUNT = 10;
/** Stock clients commit first 10 s after their start, and take 10 s for a reset. */
const WITHIN_MS = 60_000;

test("stock consumers answer our tools and reset their own offsets", async () => {
  await withInteropSite(async (site) => {
    const namesrv = await startNamesrv(site);
    await site.own(OurBroker.start({
      folder: `${site.folder}/broker`,
      namesrv,
      settings: { useServerSideResetOffset: "false" },
    }));
    await site.createTopic(namesrv, TOPIC, "--queues", "2");
    const sent = await site.run(
      namesrv,
      ...["produce", TOPIC, "hello", "--count", String(COUNT), "--json"],
    );
    const { offsetMsgId } = JSON.parse(sent.stdout.trim().split("\n")[0]!);
    await Promise.all(
      ROCKETMQ_VERSIONS.map((it) => callMember(site, namesrv, it, offsetMsgId)),
    );
  });
});

async function callMember(
  site: InteropSite,
  namesrv: string,
  version: string,
  offsetMsgId: string,
): Promise<void> {
  const group = `called-${version.replaceAll(".", "_")}`;
  const member = new Member(version, [
    `namesrv=${namesrv}`,
    `group=${group}`,
    `topic=${TOPIC}`,
    `instance=${group}`,
  ], `${site.folder}/${group}`);
  await site.own(Promise.resolve({ stop: () => member.kill() }));
  const came = (count: number) =>
    site.eventually(
      () => member.deliveries.length >= count,
      `${count} messages at ${group}, ${member.deliveries.length} came`,
      WITHIN_MS,
    );
  await came(COUNT);
  const clientId = await checkRunning(site, namesrv, group);
  const by = ["--group", group, "--client", clientId, "--json"];
  const taken = await site.run(
    namesrv,
    ...["message", "consume-directly", offsetMsgId, ...by],
  );
  assertEquals(JSON.parse(taken.stdout).consumeResult, "CR_SUCCESS");
  await came(COUNT + 1);
  await site.eventually(
    async () => await lagOf(site, namesrv, group) === 0,
    `the commit of ${group}`,
    WITHIN_MS,
  );
  const reset = ["group", "reset-offset", group, "--topic", TOPIC];
  const queue = ["--queue", "0", "--offset", "0", "-n", namesrv];
  const refused = await runPocketMQ([...reset, ...queue]);
  assertEquals(refused.code, 1);
  assert(
    refused.stderr.includes("set useServerSideResetOffset=true there"),
    refused.stderr,
  );
  await site.run(namesrv, ...reset, "--to", "first");
  await came(2 * COUNT + 1);
  await member.leave();
  const late = await runPocketMQ([...reset, "--to", "last", "-n", namesrv]);
  assertEquals([late.code, late.stderr], [0, ""]);
  assertEquals(await lagOf(site, namesrv, group), 0);
}

/** What the member says of its queues, with stacks; returns its client id. */
async function checkRunning(
  site: InteropSite,
  namesrv: string,
  group: string,
): Promise<string> {
  const shown = await site.run(
    namesrv,
    ...["group", "running", group, "--stacks", "--json"],
  );
  const [member, ...others] = JSON.parse(shown.stdout).members;
  assertEquals(others.length, 0);
  const queues = member.queues.filter((it: { queue: { topic: string } }) =>
    it.queue.topic === TOPIC
  );
  assertEquals(queues.length, 2, shown.stdout);
  assert(member.jstack.includes("TID:"), member.jstack);
  const table = await site.run(namesrv, "group", "running", group);
  assert(table.stdout.startsWith("CLIENT"), table.stdout);
  assert(table.stdout.includes(member.clientId), table.stdout);
  const nobody = await runPocketMQ(
    ["group", "running", group, "--client", "nobody", "-n", namesrv],
  );
  assertEquals(nobody.code, 1);
  assert(nobody.stderr.includes(`it has ${member.clientId}`), nobody.stderr);
  return member.clientId;
}

async function lagOf(
  site: InteropSite,
  namesrv: string,
  group: string,
): Promise<number | null> {
  const shown = await site.run(namesrv, "group", "lag", group, "--json");
  return JSON.parse(shown.stdout).totalLag;
}
