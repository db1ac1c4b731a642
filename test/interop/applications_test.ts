/** What applications of stock Java clients use beside sends and pushes, both versions side by side. */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { type Site, withSite } from "../support/site.ts";
import { type DriverResult, runDriver } from "./java.ts";
import { ROCKETMQ_VERSIONS } from "./versions.ts";

/** Runs a story for each version at a broker of its own. */
async function withEach(
  story: (site: Site, version: string) => Promise<void>,
  settings: string[] = [],
): Promise<void> {
  const args = settings.flatMap((it) => ["--set", it]);
  const stories = await Promise.allSettled(
    ROCKETMQ_VERSIONS.map((version) =>
      withSite((site) => story(site, version), args)
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
