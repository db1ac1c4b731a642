/** /metrics of the whole program in this process. */
import { assert, assertEquals } from "@std/assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { scraped } from "../metrics/metrics_fixture.ts";
import { eventually } from "../support/eventually.ts";
import { run, startServer } from "./fake_process.ts";

const ANY_PORTS = ["listen", "namesrv", "admin"]
  .flatMap((it) => [`--${it}-port`, "0"]);

test("/metrics shows where groups stand, on RocketMQ's own port too, with the exporter's names", async () => {
  const store = mkdtempSync(`${tmpdir()}/pocketmq-test-`);
  const server = await startServer([
    ...["standalone", "--store", store, ...ANY_PORTS],
    ...[
      "metricsExporterType=PROM",
      "metricsPromExporterHost=127.0.0.1",
      "metricsPromExporterPort=0",
      "metricsOfExporterEnable=true",
      "metricsLabel=site:edge,room:1",
    ].flatMap((it) => ["--set", it]),
  ]);
  const { listeners } = server;
  try {
    const n = ["-n", listeners.namesrv!];
    await run(["topic", "create", "Lagging", "--queues", "1", ...n]);
    await run(["produce", "Lagging", "x", "--count", "5", ...n]);
    const read = await run([
      ...["consume", "Lagging", "--group", "slow", "--from", "first"],
      ...["--count", "2", "--timeout", "20", ...n],
    ]);
    assertEquals(read.code, 0, read.stderr);
    const scrape = async (at: string) =>
      await (await fetch(`http://${at}/metrics`)).text();
    // A reader that comes or goes between both changes what there is.
    const found = (await eventually(async () => {
      const metrics = scraped(await scrape(listeners.metrics!));
      const { size } = scraped(await scrape(listeners.admin!));
      return metrics.size === size ? metrics : null;
    }))!;
    const of = (name: string) =>
      found.get(name)!.samples.filter((it) =>
        [...it.labels.values()].includes("Lagging")
      );
    const [lag] = of("rocketmq_consumer_lag_messages");
    assertEquals(lag!.value, 3);
    assertEquals(
      ["consumer_group", "is_retry", "is_system", "site", "room"]
        .map((it) => lag!.labels.get(it)),
      ["slow", "false", "false", "edge", "1"],
    );
    assert(of("rocketmq_consumer_lag_latency_milliseconds")[0]!.value > 0);
    assertEquals(of("rocketmq_consumer_ready_messages").length, 1);
    assertEquals(of("rocketmq_messages_in_total")[0]!.value, 5);
    assertEquals(of("rocketmq_group_diff")[0]!.value, 3);
    assertEquals(of("rocketmq_consumer_offset")[0]!.value, 2);
    assertEquals(
      found.get("rocketmq_brokeruntime_putmessage_times_total")!.samples[0]!
        .value,
      5,
    );
    const refused = await fetch(`http://${listeners.metrics}/metrics`, {
      method: "POST",
    });
    assertEquals(refused.status, 405);
    await refused.body?.cancel();
  } finally {
    await server.stop();
    rmSync(store, { recursive: true, force: true });
  }
});
