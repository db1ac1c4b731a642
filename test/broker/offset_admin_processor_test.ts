import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import {
  type BrokerConfigurationChange,
  configAdminProcessors,
} from "../../src/broker/processor/config_admin_processor.ts";
import { offsetAdminProcessors } from "../../src/broker/processor/offset_admin_processor.ts";
import { HeaderError } from "../../src/protocol/header/field_reader.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { ask, bodyText, ManagerRig, OPTIONS } from "./manager_rig.ts";

const QUEUE = { topic: "T", queueId: "3" };

function open(delayOffsets?: string) {
  const rig = new ManagerRig(
    OPTIONS,
    delayOffsets === undefined ? {} : { delayOffsets },
  );
  const asked: unknown[] = [];
  const table = offsetAdminProcessors({
    ...rig,
    messageStore: {
      getMinOffsetInQueue: (topic, queueId) => topic === "T" ? queueId : -1,
      getMaxOffsetInQueue: () => 42,
      getOffsetInQueueByTime: (...args) => {
        asked.push(args);
        return Promise.resolve(17);
      },
      getEarliestMessageTime: () => Promise.resolve(-1),
    },
  });
  return { rig, table, asked };
}

test("29 asks by time, lower unless upper is said", async () => {
  const { table, asked } = open();
  const search = (fields: Record<string, string>) =>
    ask(table, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, {
      ...QUEUE,
      ...fields,
    });
  const answer = await search({ timestamp: "1700000000000" });
  assertEquals([answer.code, answer.extFields], [0, { offset: "17" }]);
  await search({ timestamp: "-1", boundaryType: "UPPER" });
  assertEquals(asked, [
    ["T", 3, 1_700_000_000_000, "lower"],
    ["T", 3, -1, "upper"],
  ]);
});

test("30, 31 and 32 answer the ends of a queue", async () => {
  const { table } = open();
  const fields = async (code: number) =>
    (await ask(table, code, QUEUE)).extFields;
  assertEquals(await fields(RequestCode.GET_MAX_OFFSET), { offset: "42" });
  assertEquals(await fields(RequestCode.GET_MIN_OFFSET), { offset: "3" });
  assertEquals(await fields(RequestCode.GET_EARLIEST_MSG_STORETIME), {
    timestamp: "-1",
  });
});

test("29 to 32 refuse a negative queue and name a missing field", async () => {
  const { table } = open();
  for (const code of [29, 30, 31, 32]) {
    const fields = { topic: "T", queueId: "-1", timestamp: "0" };
    const answer = await ask(table, code, fields);
    assertEquals(answer.code, 29);
    assertStringIncludes(answer.remark!, "The queueId is -1");
    await assertRejects(
      async () => await ask(table, code, { topic: "T", timestamp: "0" }),
      HeaderError,
      "queueId",
    );
  }
});

test("43 and 45 answer the tables with their versions", async () => {
  const { rig, table } = open('{"offsetTable":{1:5}}');
  rig.consumerOffsetManager.commitOffset("x", "g", "T", 0, 0);
  const offsets = JSON.parse(
    bodyText(await ask(table, RequestCode.GET_ALL_CONSUMER_OFFSET)),
  );
  assertEquals(offsets.offsetTable, { "T@g": { "0": 0 } });
  assertEquals(offsets.dataVersion, {
    ...rig.consumerOffsetManager.dataVersion,
  });
  const delays = JSON.parse(
    bodyText(await ask(table, RequestCode.GET_ALL_DELAY_OFFSET)),
  );
  assertEquals(delays.offsetTable, { "1": 5 });
});

test("402 answers an empty table", async () => {
  const { table } = open();
  const modes = await ask(table, RequestCode.GET_ALL_MESSAGE_REQUEST_MODE);
  assertEquals(JSON.parse(bodyText(modes)), { messageRequestModeMap: {} });
});

class ForbiddenKeyError extends Error {
  override readonly name = "ForbiddenKeyError";
}

function openConfig(
  update: (
    changes: ReadonlyMap<string, string>,
  ) => Partial<BrokerConfigurationChange> | void,
) {
  const rig = new ManagerRig();
  let registered = 0;
  const table = configAdminProcessors({
    ...rig,
    configuration: {
      text: () => "brokerName=broker-a\nflushDiskType=ASYNC_FLUSH\n",
      dataVersion: { stateVersion: 0, timestamp: 5, counter: 2 },
      update: async (changes) => {
        await Promise.resolve();
        return {
          changed: [],
          afterRestart: [],
          unknown: [],
          isPersisted: true,
          ...update(changes),
        };
      },
    },
    registerChanges: async () => {
      await Promise.resolve();
      registered++;
    },
  });
  return { rig, table, registered: () => registered };
}

test("26 answers lines and a version header", async () => {
  const { table } = openConfig(() => {});
  const answer = await ask(table, RequestCode.GET_BROKER_CONFIG);
  assertEquals(
    bodyText(answer),
    "brokerName=broker-a\nflushDiskType=ASYNC_FLUSH\n",
  );
  assertEquals(
    answer.extFields["version"],
    '{"counter":2,"stateVersion":0,"timestamp":5}',
  );
});

test("25 hands over what Java properties say; brokerPermission is registered", async () => {
  const seen: [string, string][] = [];
  const { rig, table, registered } = openConfig((it) => {
    seen.push(...it);
  });
  const update = (body: string) =>
    ask(table, RequestCode.UPDATE_BROKER_CONFIG, {}, body);
  const before = rig.topicConfigManager.dataVersion.counter;
  const plain = await update("# a note\nslaveReadEnable = true\n");
  assertEquals([plain.code, plain.remark, registered()], [0, null, 0]);
  assertEquals((await update("brokerPermission=4\n")).code, 0);
  assertEquals(seen, [["slaveReadEnable", "true"], ["brokerPermission", "4"]]);
  assertEquals(registered(), 1);
  assertEquals(rig.topicConfigManager.dataVersion.counter, before + 1);
});

test("25 refuses forbidden keys with 16 and values with 29", async () => {
  const forbidden = openConfig(() => {
    throw new ForbiddenKeyError("Key storePathRootDir may not be changed");
  });
  const answer = await ask(forbidden.table, 25, {}, "storePathRootDir=/etc");
  assertEquals(
    [answer.code, answer.remark],
    [16, "Key storePathRootDir may not be changed"],
  );
  const wrong = openConfig(() => {
    throw new RangeError("Cannot use listenPort=x: a port is a number");
  });
  const refused = await ask(wrong.table, 25, {}, "listenPort=x");
  assertEquals(refused.code, 29);
  assertStringIncludes(refused.remark!, "listenPort=x");
});

test("25 names what waits for a restart, does nothing here or is not kept", async () => {
  const cases: [Partial<BrokerConfigurationChange>, string | null][] = [
    [{ changed: ["slaveReadEnable"] }, null],
    [
      { changed: ["slaveReadEnable"], isPersisted: false },
      "in force until a restart: slaveReadEnable",
    ],
    [
      { afterRestart: ["brokerName", "listenPort"], unknown: ["x"] },
      "in force after a restart: brokerName, listenPort; " +
      "no such key in this broker: x",
    ],
    [
      { afterRestart: ["brokerId"], isPersisted: false },
      "not changed, since they need a restart and no file keeps them: brokerId",
    ],
    [
      { unknown: Array.from({ length: 12 }, (_, index) => `k${index}`) },
      "no such key in this broker: k0, k1, k2, k3, k4, k5, k6, k7, k8, k9 and 2 more",
    ],
  ];
  for (const [change, remark] of cases) {
    const { rig, table } = openConfig(() => change);
    const answer = await ask(
      table,
      RequestCode.UPDATE_BROKER_CONFIG,
      {},
      "a=1",
    );
    assertEquals([answer.code, answer.remark], [0, remark]);
    assertEquals(rig.logger.lines.length, 1);
  }
});
