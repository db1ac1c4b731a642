import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { lockProcessors } from "../../src/broker/processor/lock_processor.ts";
import type { MessageQueue } from "../../src/model/message_queue.ts";
import {
  decodeLockBatchResponseBody,
  encodeLockBatchRequestBody,
} from "../../src/protocol/body/lock_batch_body.ts";
import { BodyError } from "../../src/protocol/body/json_fields.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { ask, bodyText, ManagerRig } from "./manager_rig.ts";

function queue(queueId: number): MessageQueue {
  return { topic: "T", brokerName: "broker-a", queueId };
}

test("a lock is granted when free, own or expired", () => {
  const rig = new ManagerRig();
  const locks = rig.rebalanceLockManager;
  assertEquals(locks.tryLockBatch("g", [queue(0), queue(1)], "a").length, 2);
  assertEquals(locks.tryLockBatch("g", [queue(1), queue(2)], "b"), [queue(2)]);
  assertEquals(locks.tryLockBatch("other", [queue(0)], "b"), [queue(0)]);
  rig.clock.advance(60_000);
  assertEquals(locks.tryLockBatch("g", [queue(0)], "a"), [queue(0)]);
  rig.clock.advance(1);
  assertEquals(
    locks.tryLockBatch("g", [queue(0), queue(1)], "b"),
    [queue(1)],
  );
});

test("a wall clock that is set frees no lock and holds none", () => {
  for (const jumpMs of [86_400_000, -86_400_000]) {
    const rig = new ManagerRig();
    const locks = rig.rebalanceLockManager;
    locks.tryLockBatch("g", [queue(0)], "a");
    rig.clock.jump(jumpMs);
    rig.clock.advance(30_000);
    assertEquals(locks.tryLockBatch("g", [queue(0)], "b"), []);
    assertEquals(locks.isLockAllExpired("g"), false);
    rig.clock.advance(30_001);
    assertEquals(locks.isLockAllExpired("g"), true);
    assertEquals(locks.tryLockBatch("g", [queue(0)], "b"), [queue(0)]);
  }
});

test("only the owner unlocks", () => {
  const rig = new ManagerRig();
  const locks = rig.rebalanceLockManager;
  locks.tryLockBatch("g", [queue(0)], "a");
  locks.unlockBatch("g", [queue(0)], "b");
  assertEquals(locks.tryLockBatch("g", [queue(0)], "b"), []);
  assertEquals(locks.isLockAllExpired("g"), false);
  locks.unlockBatch("g", [queue(0)], "a");
  assertEquals(locks.isLockAllExpired("g"), true);
  assertEquals(locks.tryLockBatch("g", [queue(0)], "b"), [queue(0)]);
});

test("isLockAllExpired() is true once nobody renews, before and after the sweep", () => {
  const rig = new ManagerRig();
  const locks = rig.rebalanceLockManager;
  locks.tryLockBatch("g", [queue(0), queue(1)], "a");
  rig.clock.advance(60_001);
  assertEquals(locks.isLockAllExpired("g"), true);
  locks.tryLockBatch("g", [queue(1)], "a");
  assertEquals(locks.isLockAllExpired("g"), false);
  rig.clock.advance(60_001);
  locks.tick(rig.clock.monotonicMs());
  assertEquals(locks.isLockAllExpired("g"), true);
  assertEquals(locks.tryLockBatch("g", [queue(0)], "b"), [queue(0)]);
});

test("41 and 42 speak JSON as Java does", async () => {
  const table = lockProcessors(new ManagerRig());
  const body = '{"clientId":"a","consumerGroup":"g","mqSet":[' +
    '{"brokerName":"broker-a","queueId":3,"topic":"T"}],"onlyThisBroker":true}';
  const locked = await ask(table, RequestCode.LOCK_BATCH_MQ, {}, body);
  assertEquals(
    bodyText(locked),
    '{"lockOKMQSet":[{"brokerName":"broker-a","queueId":3,"topic":"T"}]}',
  );
  const other = encodeLockBatchRequestBody({
    clientId: "b",
    consumerGroup: "g",
    onlyThisBroker: false,
    mqSet: [queue(3)],
  });
  const refused = await ask(table, RequestCode.LOCK_BATCH_MQ, {}, other);
  assertEquals(decodeLockBatchResponseBody(refused.body), []);
  await ask(table, RequestCode.UNLOCK_BATCH_MQ, {}, body);
  const granted = await ask(table, RequestCode.LOCK_BATCH_MQ, {}, other);
  assertEquals(decodeLockBatchResponseBody(granted.body), [queue(3)]);
});

test("41 and 42 refuse what no client means, with a sentence", async () => {
  const table = lockProcessors(new ManagerRig());
  for (const code of [RequestCode.LOCK_BATCH_MQ, RequestCode.UNLOCK_BATCH_MQ]) {
    const send = (body: unknown) =>
      ask(
        table,
        code,
        {},
        typeof body === "string" ? body : JSON.stringify(body),
      );
    const sound = { consumerGroup: "g", clientId: "c", mqSet: [] };
    const mq = { topic: "T", brokerName: "broker-a", queueId: 0 };
    assertEquals((await send(sound)).code, 0);
    for (
      const [changes, word] of [
        [{ consumerGroup: " " }, "consumerGroup"],
        [{ consumerGroup: null }, "consumerGroup"],
        [{ clientId: "" }, "clientId"],
        [{ mqSet: [mq, { ...mq, topic: null }] }, "topic"],
        [{ mqSet: [{ ...mq, queueId: -1 }] }, "queueId -1"],
      ] as const
    ) {
      const { code: answer, remark } = await send({ ...sound, ...changes });
      assertEquals(answer, 29);
      assert(remark!.includes(word), remark!);
    }
    for (const body of ["", "{}", "[]", "{", '{"mqSet":{}}', '{"mqSet":[7]}']) {
      await assertRejects(() => send(body), BodyError);
    }
  }
});
