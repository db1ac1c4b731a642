/** Delayed messages, retries and dead letters of stock Java clients, over two restarts of the broker. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { decodeKVTable } from "../../src/protocol/body/kv_table.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { type Site, withSite } from "../support/site.ts";
import { runDriver } from "./java.ts";
import { ROCKETMQ_VERSIONS } from "./versions.ts";

const COUNT = 100;
/** Retries take levels 3, 4 and 5. */
const LEVELS = [
  "--set",
  "messageDelayLevel=1s 1s 1s 2s 2s",
  "--set",
  "flushDelayOffsetInterval=500",
];

test("delays, retries and dead letters of Java clients go on over a stop and kill -9", async () => {
  // They wait most of the time, for delays and for clients that look for routes every 30 s.
  const stories = await Promise.allSettled(ROCKETMQ_VERSIONS.map(retry));
  for (const it of stories) if (it.status === "rejected") throw it.reason;
});

function retry(version: string): Promise<void> {
  return withSite(async (site) => {
    await site.createTopic("RetryTopic");
    let isSent = false;
    const args = [
      "retries",
      `namesrv=${site.namesrv}`,
      "topic=RetryTopic",
      "group=retry-group",
      `count=${COUNT}`,
      "seconds=150",
    ];
    const driver = runDriver(version, args, site.folder, (output) => {
      isSent ||= /^SENT$/m.test(output);
    });
    await eventually(() => isSent, { timeoutMs: 60_000 });
    await untilDelivered(site, 3);
    await site.restart();
    await untilDelivered(site, 4);
    await site.restart("SIGKILL");
    const done = await driver;
    const { repeated, ...counts } = done.result;
    assertEquals(
      counts,
      { delayed: COUNT, flaky: COUNT, dead: COUNT, faults: 0 },
      `${version}: ${done.output}`,
    );
    console.log(`${version}: ${repeated} repeated`);
    // One kill -9 may repeat what it caught under way, each once; nothing multiplies.
    assert(repeated! <= 3 * COUNT, `${version}: ${done.output}`);
  }, LEVELS);
}

/** Resolves once a retry of that level was delivered: others wait. One connection asks. */
async function untilDelivered(site: Site, level: number): Promise<void> {
  const client = await RawClient.open(site.broker);
  try {
    await eventually(async () => {
      const info = decodeKVTable((await client.invoke(28)).body);
      const offsets = info.get(`scheduleMessageOffset_${level}`) ?? "0";
      const [delivered] = offsets.split(",");
      return Number(delivered) > 0;
    }, { timeoutMs: 60_000 });
  } finally {
    client.close();
  }
}
