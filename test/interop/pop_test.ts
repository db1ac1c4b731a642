/** Stock push consumers of 5.5.0 that pop: two share a topic, one dies, one message fails once, the broker is killed. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { type Site, withSite } from "../support/site.ts";
import { RawClient } from "../support/raw_client.ts";
import { Member } from "./java.ts";
import { mqadmin } from "./mqadmin.ts";

const VERSION = "5.5.0";
const TOPIC = "PopTopic";
const GROUP = "pop-group";
const COUNT = 200;
const QUEUES = 8;
const PATIENT = { timeoutMs: 60_000 };

test("push consumers of 5.5.0 pop what mqadmin switches to POP, over a killed member and a killed broker", async () => {
  await withSite(async (site) => {
    await site.createTopic(TOPIC);
    await switchToPop(site);
    const [first, second] = ["a", "b"].map((instance) =>
      new Member(VERSION, [
        `namesrv=${site.namesrv}`,
        `topic=${TOPIC}`,
        `group=${GROUP}`,
        `instance=${instance}`,
        "pop=10000",
        ...(instance === "a" ? ["hold=20"] : ["fails=key150"]),
      ], site.folder)
    );
    try {
      await eventually(() => first!.started && second!.started, PATIENT);
      await send(site, 0, COUNT / 2);
      await eventually(() => first!.deliveries.length === 20, PATIENT);
      await first!.kill();
      await site.restart("SIGKILL");
      await send(site, COUNT / 2, COUNT / 2);
      const keys = () =>
        new Set(
          [...first!.deliveries, ...second!.deliveries].map((it) => it.key),
        );
      const failed = () =>
        second!.deliveries.filter((it) => it.key === "key150").length;
      await eventually(() => keys().size === COUNT && failed() === 2, PATIENT);
      console.log(
        `${first!.deliveries.length} and ${
          second!.deliveries.length
        } deliveries`,
      );
      // A client that is slow, or whose acknowledgement a kill caught, gets a message again.
      const again = second!.deliveries.length + 20 - COUNT;
      assert(again <= COUNT / 2, `${again} came again`);
      const times = second!.deliveries.filter((it) => it.key === "key150");
      assert(times[1]!.atMs - times[0]!.atMs >= 9_000);
    } finally {
      await first!.kill();
      await second!.kill();
    }
  });
});

async function switchToPop(site: Site): Promise<void> {
  const [output] = await mqadmin(VERSION, site.folder, [
    ["setConsumeMode", "-n", site.namesrv, "-b", site.broker, "-t", TOPIC]
      .concat("-g", GROUP, "-m", "POP", "-q", "0"),
  ]);
  assert(output!.includes("success"), output!);
}

/** With keys, as the members print them. */
async function send(site: Site, from: number, count: number): Promise<void> {
  const client = await RawClient.open(site.broker);
  for (let number = from; number < from + count; number++) {
    const body = new TextEncoder().encode(`body${number}`);
    const keys = `KEYS\u0001key${number}\u0002`;
    const sent = await client.send(TOPIC, number % QUEUES, body, keys);
    assertEquals(sent.code, 0, sent.remark ?? "");
  }
  client.close();
}
