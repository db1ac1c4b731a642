/** What applications of stock Java clients use beside sends and pushes, both versions side by side. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { type Site, withSite } from "../support/site.ts";
import { mqadmin, rowsOf } from "./mqadmin.ts";
import { type DriverResult, runDriver } from "./java.ts";
import { isModern, ROCKETMQ_VERSIONS, toolsOf } from "./versions.ts";

/** Runs a story for each version at a broker of its own. */
async function withEach(
  story: (site: Site, version: string) => Promise<void>,
  settings: (version: string) => string[] = () => [],
): Promise<void> {
  const stories = await Promise.allSettled(
    ROCKETMQ_VERSIONS.map((version) =>
      withSite(
        (site) => story(site, version),
        settings(version).flatMap((it) => ["--set", it]),
      )
    ),
  );
  for (const it of stories) if (it.status === "rejected") throw it.reason;
}

function run(
  site: Site,
  version: string,
  scenario: string,
  topic: string,
): Promise<DriverResult> {
  const args = [scenario, `namesrv=${site.namesrv}`, `topic=${topic}`];
  return runDriver(version, args, site.folder);
}

test("Java clients ask and reply; a reply to a client that has gone is refused and kept", () =>
  withEach(async (site, version) => {
    await site.createTopic("AskTopic");
    const done = await run(site, version, "requestreply", "AskTopic");
    assertEquals(done.result, {
      sync: 20,
      async: 20,
      timeouts: 1,
      replied: 40,
      refused: 1,
      faults: 0,
    }, `${version}: ${done.output}`);
    const replies = await site.run(
      "topic",
      "show",
      "DefaultCluster_REPLY_TOPIC",
      "--json",
    );
    assertEquals(JSON.parse(replies.stdout).queues[0].maxOffset, 41);
  }));

test("Java clients compress in each way, 5.x gathers batches; the tools show what was sent", () =>
  withEach(async (site, version) => {
    await site.createTopic("PackedTopic");
    const types = isModern(version) ? ["ZLIB", "LZ4", "ZSTD"] : ["ZLIB"];
    const gathered = isModern(version) ? 200 : 0;
    const done = await run(site, version, "packed", "PackedTopic");
    assertEquals(done.result, {
      packed: types.length,
      gathered,
      received: types.length + gathered,
      faults: 0,
    }, `${version}: ${done.output}`);
    for (const type of types) {
      const query = ["message", "query", "PackedTopic", "--json", "--key"];
      const shown = await site.run(...query, `packed-${type}`);
      const [byTool] = JSON.parse(shown.stdout);
      const url = `${site.admin}/admin/messages?topic=PackedTopic&key=packed-`;
      const [byHttp] = (await (await fetch(url + type)).json()).messages;
      for (const it of [byTool, byHttp]) {
        assertEquals([it.compression, it.encoding], [null, "text"], type);
        assert(it.body.startsWith(`packed with ${type} `), it.body);
        assert(it.sysFlag % 2 === 1 && it.bodySize > 2 * it.storeSize);
      }
    }
    if (gathered === 0) return;
    const metrics = await (await fetch(`${site.admin}/metrics`)).text();
    const batches =
      /rpc_latency_milliseconds_count\{[^}]*"send_batch_message"[^}]*\} (\d+)/
        .exec(metrics)?.[1];
    assert(Number(batches) > 0 && Number(batches) < gathered, `${batches}`);
  }));

test("Java clients trace into the usual topic and one of their own; mqadmin shows the way of a message", () =>
  withEach(async (site, version) => {
    await site.createTopic("TracedTopic");
    await site.createTopic("OwnTraces");
    const done = await run(site, version, "traces", "TracedTopic");
    const { output } = done;
    assertEquals(done.result, { usual: 10, own: 10, faults: 0 }, output);
    const idOf = (name: string) =>
      new RegExp(`^ID ${name} (\\w+)$`, "m").exec(output)![1]!;
    const query = ["queryMsgTraceById", "-n", site.namesrv, "-i"];
    const [usual, own] = await mqadmin(toolsOf(version), site.folder, [
      [...query, idOf("usual")],
      [...query, idOf("own"), "-t", "OwnTraces"],
    ]);
    for (const [name, shown] of [["usual", usual], ["own", own]]) {
      const rows = rowsOf(shown!);
      const groups = rows.map((it) => it.slice(0, 2).join(" "));
      assert(groups.includes(`Pub ${name}-producers`), shown);
      assert(shown!.includes(`${name}-consumers`), shown);
    }
  }, (version) =>
    // The topic is made by the first trace, or at the start where sends make none.
    isModern(version)
      ? ["autoCreateTopicEnable=false", "traceTopicEnable=true"]
      : []));
