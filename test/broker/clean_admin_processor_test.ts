import { test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { cleanAdminProcessors } from "../../src/broker/processor/clean_admin_processor.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { topicOf } from "./fakes.ts";
import { ask, ManagerRig, OPTIONS } from "./manager_rig.ts";

function open(options = OPTIONS) {
  const rig = new ManagerRig(options);
  rig.topicConfigManager.updateTopicConfig(topicOf("T"));
  const done: string[] = [];
  const store = {
    failure: null as Error | null,
    topics: () => ["T", "Gone"],
    deleteTopics: (topics: readonly string[]) => {
      done.push(`delete ${topics}`);
      return store.failure === null
        ? Promise.resolve()
        : Promise.reject(store.failure);
    },
    cleanExpiredConsumeQueue: () => {
      done.push("queues");
      return Promise.resolve(3);
    },
    executeDeleteFilesManually: () => void done.push("log"),
  };
  const table = cleanAdminProcessors({ ...rig, messageStore: store });
  return { done, store, code: (code: number) => ask(table, code) };
}

test("306, 316 and 329 clean and answer 0", async () => {
  const { code, done } = open();
  for (
    const it of [
      RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE,
      RequestCode.CLEAN_UNUSED_TOPIC,
      RequestCode.DELETE_EXPIRED_COMMITLOG,
    ]
  ) assertEquals((await code(it)).code, 0);
  assertEquals(done, ["queues", "delete Gone", "log"]);
});

test("316 on a slave removes nothing: the topic may be on its way", async () => {
  const { code, done } = open({ ...OPTIONS, brokerRole: "SLAVE" });
  assertEquals((await code(RequestCode.CLEAN_UNUSED_TOPIC)).code, 0);
  assertEquals(done, ["delete "]);
});

test("316 with a disk that fails says so", async () => {
  const { code, store } = open();
  store.failure = new Error("EIO");
  const { code: answer, remark } = await code(RequestCode.CLEAN_UNUSED_TOPIC);
  assertEquals(answer, 1);
  assertStringIncludes(remark!, "EIO");
});
