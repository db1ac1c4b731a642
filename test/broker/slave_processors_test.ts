import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { wrapForSlave } from "../../src/broker/slave_processors.ts";
import {
  createRequest,
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import type { RequestProcessor } from "../../src/remoting/request_processor.ts";
import { fakeContext } from "./fakes.ts";

const { LOCK_BATCH_MQ, UNLOCK_BATCH_MQ } = RequestCode;

/** A broker whose lock processors answer `here`, and a master that answers `there`. */
function open(
  { isSlave = true, fencedReason = null as string | null } = {},
) {
  const forwarded: RemotingCommand[] = [];
  const master = { isMasterAlive: true, answers: true };
  const table = new Map<number, RequestProcessor>();
  for (const code of [LOCK_BATCH_MQ, UNLOCK_BATCH_MQ]) {
    table.set(code, () => createResponse(0, "here"));
  }
  wrapForSlave(table, {
    isSlave: () => isSlave,
    fencedReason: () => fencedReason,
    slaveSynchronize: {
      get isMasterAlive() {
        return master.isMasterAlive;
      },
      forward: (request) => {
        forwarded.push(request);
        return Promise.resolve(
          master.answers ? createResponse(0, "there") : undefined,
        );
      },
    },
    consumerOffsetManager: { isOwn: () => false, forwarded() {} },
  });
  const ask = async (code: number, body = new Uint8Array([1, 2])) => {
    const answer = table.get(code)!(
      fakeContext(),
      createRequest(code, {}, body),
    );
    // The receive buffer takes other bytes meanwhile.
    body.fill(9);
    const done = await answer;
    return typeof done === "symbol" ? "held" : done.remark;
  };
  return { ask, forwarded, master };
}

test("104: locks of a slave are its master's while that one answers, its own otherwise", async () => {
  const { ask, forwarded, master } = open();
  for (const code of [LOCK_BATCH_MQ, UNLOCK_BATCH_MQ]) {
    assertEquals(await ask(code), "there");
    assertEquals(forwarded.at(-1)!.code, code);
    assertEquals(forwarded.at(-1)!.body, Uint8Array.of(1, 2));
  }
  master.answers = false;
  assertEquals(await ask(LOCK_BATCH_MQ), "here");
  master.isMasterAlive = false;
  const count = forwarded.length;
  assertEquals(await ask(LOCK_BATCH_MQ), "here");
  assertEquals(forwarded.length, count);
});

test("104: a master grants locks, one that was overtaken grants none", async () => {
  assertEquals(await open({ isSlave: false }).ask(LOCK_BATCH_MQ), "here");
  const { ask, forwarded } = open({ isSlave: false, fencedReason: "fenced" });
  assertEquals(await ask(LOCK_BATCH_MQ), "fenced");
  assertEquals(await ask(UNLOCK_BATCH_MQ), "here");
  assertEquals(forwarded, []);
});
