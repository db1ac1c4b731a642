/** What /readyz says while a broker recovers a long log (scenario 156). */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { cpSync } from "node:fs";
import { test } from "node:test";
import { BrokerController } from "../../src/broker/broker_controller.ts";
import type { RunningBroker } from "../../src/cli/broker_server.ts";
import { healthSentence } from "../../src/cli/health_command.ts";
import { healthChecks, notReady } from "../../src/cli/facade_status.ts";
import type { Clock } from "../../src/io/clock.ts";
import { brokerSlices, runtime, startBroker } from "../broker/broker_site.ts";
import { FakeLogger } from "../broker/fakes.ts";
import { startNode } from "../ha/pair_site.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const BATCHES = 60;
const BATCH = 200;

/** Time that runs a millisecond faster with every look, as on a machine that is slow. */
function slowMachine(): Clock {
  let aheadMs = 0;
  return {
    nowMs: () => runtime.clock.nowMs(),
    monotonicMs: () => runtime.clock.monotonicMs() + aheadMs++,
    every: (intervalMs, run) => runtime.clock.every(intervalMs, run),
    after: (delayMs, run) => runtime.clock.after(delayMs, run),
  };
}

test("156: a long recovery lets the probes be answered, and shows how far it is", () =>
  withTempDirectory(async (folder) => {
    const first = await startBroker(`${folder}/a`);
    const client = await RawClient.open(first.address);
    for (let batch = 0; batch < BATCHES; batch++) {
      await Promise.all(
        Array.from(
          { length: BATCH },
          () => client.send("T", 0, new Uint8Array(50)),
        ),
      );
    }
    cpSync(`${folder}/a`, `${folder}/killed`, { recursive: true });
    client.close();
    await first.controller.stop();

    const broker = new BrokerController(
      {
        ...runtime,
        clock: slowMachine(),
        logger: new FakeLogger(),
        configuration: {
          text: () => "",
          dataVersion: { stateVersion: 0, timestamp: 0, counter: 0 },
          update: () => Promise.reject(new Error("not here")),
        },
      },
      brokerSlices(`${folder}/killed`),
    );
    const running = { broker } as unknown as RunningBroker;
    const checks = () => healthChecks(running).find((it) => !it.ok)?.detail;
    assertEquals(checks(), "it is starting or stopping");
    let isStarted = false;
    const started = broker.start().then(() => void (isStarted = true));
    const seen = new Set<string>();
    while (!isStarted) {
      const detail = checks();
      if (detail?.includes("MiB")) seen.add(detail);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await started;
    assert(seen.size >= 2, `nobody could ask meanwhile: ${[...seen]}`);
    for (const it of seen) {
      assertMatch(
        it,
        /^it is starting: \d\.\d of \d\.\d MiB of the commit log are recovered$/,
      );
    }
    assertEquals(checks(), undefined);
    const { messageStore } = broker;
    assertEquals(messageStore.getMaxOffsetInQueue("T", 0), BATCHES * BATCH);
    await broker.stop();
  }));

test("a slave that has recovered is ready; its link is shown and decides nothing", () =>
  withTempDirectory(async (folder) => {
    const { controller } = await startNode(folder, {
      broker: { brokerRole: "SLAVE", brokerId: 1 },
      ha: { haMasterAddress: "127.0.0.1:1" },
    });
    const checks = healthChecks({ broker: controller } as RunningBroker);
    assertEquals(checks.filter((it) => !it.ok), []);
    const link = checks.find((it) => it.name === "replication");
    assertMatch(link!.detail!, /^disconnected: The master/);
    const said = (status: number) =>
      healthSentence(JSON.stringify({ checks }), {
        ok: status === 200,
        status,
      });
    assertMatch(said(200), /^ready: replication \(disconnected: The master/);
    assertEquals(said(503), "not ready: HTTP 503");
    await controller.stop();
    const stopped = healthChecks({ broker: controller } as RunningBroker);
    assertEquals(stopped.some((it) => !it.ok), true);
  }));

test("a broker that changes its role says so, and not that it starts or stops", () => {
  const role = notReady({ isRestarting: true });
  assertEquals(role.status, 503);
  assertMatch(role.message, /^A change of the role .* try again/);
  assertMatch(
    notReady({ isRestarting: false }).message,
    /^The broker is starting/,
  );
});
