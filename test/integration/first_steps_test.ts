/** What a newcomer does: start, send, receive, look, stop, start again. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withSite } from "../support/site.ts";

test("standalone serves produce, consume and the admin server, and keeps all over a restart", async () => {
  await withSite(async (site) => {
    const sent = await site.run(
      "produce",
      "Hello",
      "first body",
      "--tag",
      "A",
      "--key",
      "k1",
      "--json",
    );
    assertEquals(sent.code, 0, sent.stderr);
    const line = JSON.parse(sent.stdout.trim().split("\n")[0]!);
    assert(typeof line.msgId === "string", sent.stdout);
    const read = () =>
      site.run(
        "consume",
        "Hello",
        "--group",
        "readers",
        "--from",
        "first",
        "--count",
        "1",
        "--timeout",
        "20",
      );
    const first = await read();
    assertEquals([first.code, first.stdout], [0, "first body\n"], first.stderr);
    const ha = await (await fetch(`${site.admin}/admin/ha`)).json();
    assertEquals([ha.state, ha.role, ha.master], [
      "alone",
      "ASYNC_MASTER",
      true,
    ]);
    assertEquals((await fetch(`${site.admin}/readyz`)).status, 200);
    const metrics = await (await fetch(`${site.admin}/metrics`)).text();
    assert(metrics.includes("rocketmq_messages_in_total"), metrics);

    await site.restart();
    await site.run("produce", "Hello", "second body");
    const second = await read();
    assertEquals([second.code, second.stdout], [0, "second body\n"]);
    const byKey = await site.run(
      "message",
      "query",
      "Hello",
      "--key",
      "k1",
      "--json",
    );
    assert(byKey.stdout.includes("k1"), byKey.stdout + byKey.stderr);
  });
});

test("consume ends with 1 when nothing came in time", async () => {
  await withSite(async (site) => {
    await site.createTopic("Quiet");
    const read = await site.run(
      "consume",
      "Quiet",
      "--group",
      "g",
      "--count",
      "1",
      "--timeout",
      "1",
    );
    assertEquals([read.code, read.stdout, read.stderr], [
      1,
      "",
      "pocketmq: 0 of 1 messages came within 1 s: give more by --timeout, " +
      "or another place to begin by --from\n",
    ]);
  });
});

test("a raw client sends a body of 0 bytes and gets it back", async () => {
  await withSite(async (site) => {
    await site.createTopic("Empty");
    const client = await RawClient.open(site.broker);
    try {
      const sent = await client.send("Empty", 0, new Uint8Array(0));
      assertEquals([sent.code, sent.extFields.queueOffset], [0, "0"]);
      const pulled = await client.pull("readers", "Empty", 0, 0);
      assertEquals([pulled.code, pulled.extFields.nextBeginOffset], [0, "1"]);
      assert(pulled.body.length > 91);
    } finally {
      client.close();
    }
  });
});

test("SIGTERM ends every server command with 0 and a second start finds a clean store", async () => {
  await withSite(async (site) => {
    await site.run("produce", "Hello", "x");
    assertEquals(await site.server.stop("SIGTERM"), 0);
    const seen = await runPocketMQ(["store", "verify", site.storePath]);
    assertEquals(seen.code, 0, seen.stdout + seen.stderr);
  });
});
