import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { inZone, withActingMasters } from "../../src/namesrv/route_pickup.ts";
import type { TopicRouteData } from "../../src/protocol/body/topic_route_data.ts";

function route(
  brokers: [string, [number, string][], string | null, boolean][],
  perm = 4,
): TopicRouteData {
  return {
    orderTopicConf: null,
    queueDatas: brokers.map(([brokerName]) => ({
      brokerName,
      readQueueNums: 1,
      writeQueueNums: 1,
      perm,
      topicSysFlag: 0,
    })),
    brokerDatas: brokers.map(([brokerName, addrs, zoneName, acting]) => ({
      cluster: "c",
      brokerName,
      brokerAddrs: new Map(addrs),
      enableActingMaster: acting,
      zoneName,
    })),
    filterServerTable: new Map(),
  };
}

test("withActingMasters() shows the smallest slave under id 0 where acting master is on", () => {
  const shown = withActingMasters(
    "T",
    route([
      ["a", [[2, "a2"], [1, "a1"]], null, true],
      ["b", [[1, "b1"]], null, false],
      ["c", [[0, "c0"], [1, "c1"]], null, true],
    ]),
  );
  assertEquals(shown.brokerDatas.map((it) => [...it.brokerAddrs]), [
    [[2, "a2"], [0, "a1"]],
    [[1, "b1"]],
    [[0, "c0"], [1, "c1"]],
  ]);
  const writable = route([["a", [[1, "a1"]], null, true]], 6);
  assertEquals(withActingMasters("T", writable), writable);
  const member = route([["a", [[1, "a1"]], null, true]]);
  const topic = "rmq_sys_SYNC_BROKER_MEMBER_a";
  assertEquals(withActingMasters(topic, member), member);
});

test("inZone() leaves brokers of the zone and those without a master", () => {
  const shown = inZone(
    route([
      ["near", [[0, "n0"]], "East", false],
      ["far", [[0, "f0"]], "west", false],
      ["unknown", [[0, "u0"]], null, false],
      ["orphan", [[1, "o1"]], "west", false],
    ]),
    "east",
  );
  assertEquals(shown.brokerDatas.map((it) => it.brokerName), [
    "near",
    "orphan",
  ]);
  assertEquals(shown.queueDatas.map((it) => it.brokerName), [
    "near",
    "orphan",
  ]);
});
