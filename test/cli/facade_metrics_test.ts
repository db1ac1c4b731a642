/** What both nodes of a pair tell a scrape, before and after a swap of roles (scenarios 149 to 151). */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import type { RunningBroker } from "../../src/cli/broker_server.ts";
import { lagOf } from "../../src/cli/facade_groups.ts";
import { haStatus } from "../../src/cli/facade_ha.ts";
import { metricsSource } from "../../src/cli/facade_metrics.ts";
import { BrokerMetrics } from "../../src/metrics/broker_metrics.ts";
import { HEARTBEAT, runtime } from "../broker/broker_site.ts";
import {
  caughtUp,
  type PairNode,
  sends,
  startMaster,
  startSlave,
  stopAll,
} from "../ha/pair_site.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const runningOf = ({ controller }: PairNode) =>
  ({
    broker: controller,
    context: { runtime, startedMs: 0 },
    configuration: {
      values: {
        metricsLagGroupMax: 100,
        metricsOtelCardinalityLimit: 1_000,
        metricsLabel: "",
        metricsOfExporterEnable: false,
      },
    },
  }) as unknown as RunningBroker;

/** A node as Prometheus sees it: one registry for its whole life. */
function scraper(node: PairNode) {
  const metrics = new BrokerMetrics(metricsSource(runningOf(node)));
  return async () => {
    const samples = (await metrics.text()).split("\n")
      .filter((it) => it !== "" && !it.startsWith("#"));
    /** Values of all series of a name that carry `label`. */
    return (name: string, label = "") =>
      samples.filter((it) => it.startsWith(`${name}{`) && it.includes(label))
        .map((it) => Number(it.slice(it.lastIndexOf(" ") + 1)));
  };
}

const MASTER_SERIES = [
  "rocketmq_ha_slave_lag_bytes",
  "rocketmq_ha_slave_lag_milliseconds",
  "rocketmq_ha_replicated_offset",
];
const SLAVE_SERIES = [
  "rocketmq_ha_master_lag_bytes",
  "rocketmq_ha_master_lag_milliseconds",
];

async function assertRoles(
  master: { node: PairNode; scrape: ReturnType<typeof scraper> },
  slave: { node: PairNode; scrape: ReturnType<typeof scraper> },
  slaveId: number,
): Promise<void> {
  await eventually(async () =>
    (await master.scrape())("rocketmq_ha_slave_lag_milliseconds")[0] === 0 &&
    (await slave.scrape())("rocketmq_ha_master_lag_bytes")[0] === 0
  );
  const [ofMaster, ofSlave] = [await master.scrape(), await slave.scrape()];
  for (const name of MASTER_SERIES) {
    assertEquals([ofMaster(name).length, ofSlave(name)], [1, []], name);
  }
  for (const name of SLAVE_SERIES) {
    assertEquals([ofMaster(name), ofSlave(name).length], [[], 1], name);
  }
  const role = 'role="SLAVE"';
  assertEquals(ofMaster("rocketmq_ha_role", role), [0]);
  assertEquals(ofSlave("rocketmq_ha_role", role), [1]);
  assertEquals(ofSlave("rocketmq_ha_slaves_in_sync"), [0]);
  assertEquals(ofMaster("rocketmq_ha_slaves_in_sync"), [1]);
  const [of, to] = [
    haStatus(runningOf(master.node)),
    haStatus(runningOf(slave.node)),
  ];
  assertEquals([of.role, of.brokerId], ["SYNC_MASTER", 0]);
  assertEquals([to.role, to.brokerId], ["SLAVE", slaveId]);
  assertEquals(to.haClientRuntimeInfo?.diff, 0);
}

test("150, 151: role, id and counters are there on both nodes, and change places with the roles", () =>
  withTempDirectory(async (folder) => {
    const a = await startMaster(`${folder}/a`, {
      broker: { brokerRole: "SYNC_MASTER" },
    });
    const b = await startSlave(`${folder}/b`, a);
    await eventually(() => a.controller.ha.state().state === "healthy");
    const [first, second] = [
      { node: a, scrape: scraper(a) },
      { node: b, scrape: scraper(b) },
    ];
    assert((await sends(a, 40)).every((it) => it === 0));
    await caughtUp(a, b);
    const reader = await RawClient.open(b.address);
    await eventually(async () =>
      (await reader.pull("g", "T", 0, 0)).code === 0
    );
    reader.close();
    await assertRoles(first, second, 1);
    for (const { scrape } of [first, second]) {
      const seen = await scrape();
      assertEquals(seen("pocketmq_topic_messages_total", 'topic="T"'), [40]);
    }
    // What a slave served is counted where it was served.
    assert((await second.scrape())("rocketmq_messages_out_total")[0]! > 0);

    await eventually(() => a.controller.metadata.hasSlaveInSync);
    await a.controller.roles.demote({
      force: false,
      haMasterAddress: b.haAddress,
    });
    await b.controller.roles.promote({ force: false });
    await eventually(() => b.controller.ha.state().state === "healthy");
    assert((await sends(b, 20)).every((it) => it === 0));
    await caughtUp(b, a);
    // The slave had number 1 when its master was demoted.
    await assertRoles(second, first, 2);
    await stopAll(a, b);
  }));

test("149: the lag of a group that never committed is unknown, and no 0", () =>
  withTempDirectory(async (folder) => {
    const node = await startMaster(`${folder}/a`);
    await sends(node, 40);
    const client = await RawClient.open(node.address);
    await client.invoke(34, {}, HEARTBEAT);
    const lags = () => {
      const found = lagOf(node.controller, "g").filter((it) =>
        it.topic === "T"
      );
      return [...new Set(found.map((it) => it.lag))];
    };
    const ofGroup = async () =>
      (await scraper(node)())(
        "rocketmq_consumer_lag_messages",
        'consumer_group="g",topic="T"',
      );
    // Queues 4 to 7 hold nothing: there nobody is behind.
    assertEquals(lags(), [null, 0]);
    assertEquals(await ofGroup(), []);
    for (let queueId = 0; queueId < 4; queueId++) {
      assertEquals(await ofGroup(), []);
      await client.invoke(15, {
        ...{ consumerGroup: "g", topic: "T", queueId: String(queueId) },
        commitOffset: "4",
      });
    }
    assertEquals(lags(), [6, 0]);
    assertEquals(await ofGroup(), [24]);
    client.close();
    await stopAll(node);
  }));
