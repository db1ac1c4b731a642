import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { endTransactionProcessors } from "../../../src/broker/processor/end_transaction_processor.ts";
import { encodeMessageId } from "../../../src/model/message_id.ts";
import { parseSocketAddress } from "../../../src/model/socket_address.ts";
import { HeaderError } from "../../../src/protocol/header/field_reader.ts";
import { RequestCode } from "../../../src/protocol/request_code.ts";
import { ask } from "../manager_rig.ts";

function open(isSlave = false) {
  const calls: unknown[] = [];
  const done = (call: unknown) => {
    calls.push(call);
    return Promise.resolve({ code: 0, remark: null });
  };
  const table = endTransactionProcessors({
    transactions: { end: done, resume: done },
    isSlave: () => isSlave,
  });
  const end = (changes: Record<string, string> = {}) =>
    ask(table, RequestCode.END_TRANSACTION, {
      producerGroup: "pg",
      tranStateTableOffset: "5",
      commitLogOffset: "50",
      commitOrRollback: "8",
      msgId: "K1",
      ...changes,
    });
  const resume = (msgId: string) =>
    ask(table, RequestCode.RESUME_CHECK_HALF_MESSAGE, { topic: "T", msgId });
  return { calls, end, resume };
}

test("37 ends a transaction, or lets it go on", async () => {
  const { calls, end } = open();
  assertEquals((await end()).code, 0);
  assertEquals((await end({ fromTransactionCheck: "true" })).code, 0);
  assertEquals(
    calls,
    [false, true].map((fromTransactionCheck) => ({
      producerGroup: "pg",
      tranStateTableOffset: 5,
      commitLogOffset: 50,
      commitOrRollback: 8,
      fromTransactionCheck,
    })),
  );
  const unknown = await end({ commitOrRollback: "0" });
  assertEquals([unknown.code, calls.length], [0, 2]);
  const nonsense = await end({ commitOrRollback: "7" });
  assertEquals([nonsense.code, calls.length], [1, 2]);
  assert(
    nonsense.remark!.startsWith("commitOrRollback is 7: send 8 to commit"),
  );
  await assertRejects(() => end({ commitLogOffset: "x" }), HeaderError);
  assertEquals((await open(true).end()).code, 11);
});

test("323 takes the offset message id of what was put aside", async () => {
  const { calls, resume } = open();
  const id = encodeMessageId(parseSocketAddress("10.0.0.2:10911")!, 77);
  assertEquals((await resume(id)).code, 0);
  assertEquals(calls, [77]);
  const wrong = await resume("K1");
  assertEquals(wrong.code, 1);
  assert(wrong.remark!.includes("K1"));
  assertEquals((await open(true).resume(id)).code, 11);
});
