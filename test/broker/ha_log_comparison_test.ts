import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  COMPARED_TAIL_SIZE,
  compareTails,
} from "../../src/broker/ha_log_comparison.ts";
import { HAMasterLog } from "../../src/broker/ha_master_log.ts";
import type { LogComparison } from "../../src/ha/master_probe.ts";
import { encodeHARole } from "../../src/protocol/body/ha_role_body.ts";
import { encodeKVTable } from "../../src/protocol/body/kv_table.ts";
import { encodeLogDigest } from "../../src/protocol/body/log_digest_body.ts";
import { PocketmqRequestCode } from "../../src/protocol/pocketmq_request_code.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { ResponseCode } from "../../src/protocol/response_code.ts";
import { digestOf } from "../../src/store/log_digest.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import { bytesOf, put, StoreSite } from "../store/message_store_fixture.ts";

const FILE_SIZE = 262_144;

/** A store with these bodies; the same ones make the same bytes. */
async function storeOf(...bodies: string[]): Promise<MessageStore> {
  const store = await new StoreSite().open({
    mappedFileSizeCommitLog: FILE_SIZE,
  });
  for (const it of bodies) put(store, { body: bytesOf(it.padEnd(1_500, ".")) });
  return store;
}

function names(count: number, prefix = "m"): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${n}`);
}

/** Answers as a master with this log does. */
class FakeMaster {
  promotedAtOffset = 0;
  minOffset = 0;
  /** Apache's answer 3 to our codes. */
  isApache = false;

  constructor(readonly store: MessageStore) {}

  async invoke(
    _address: string,
    { code, extFields }: RemotingCommand,
  ): Promise<RemotingCommand> {
    const { minOffset, store } = this;
    const { maxPhyOffset: maxOffset, replicaLog } = store;
    if (this.isApache && code > 31_000) {
      return createResponse(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, "unknown");
    }
    const offset = Number(extFields["offset"]);
    switch (code) {
      case RequestCode.GET_BROKER_RUNTIME_INFO:
        return answer(encodeKVTable(
          new Map([
            ["commitLogMinOffset", String(minOffset)],
            ["commitLogMaxOffset", String(maxOffset)],
          ]),
        ));
      case RequestCode.VIEW_MESSAGE_BY_ID: {
        const record = await store.selectOneMessageByOffset(offset);
        return record === undefined
          ? createResponse(ResponseCode.SYSTEM_ERROR, "not there")
          : answer(record);
      }
      case PocketmqRequestCode.DIGEST_COMMIT_LOG: {
        const end = offset + Number(extFields["size"]);
        const digest = await digestOf(replicaLog, offset, end);
        return answer(encodeLogDigest({ digest, minOffset, maxOffset }));
      }
      default:
        return answer(encodeHARole({
          role: "ASYNC_MASTER",
          brokerId: 0,
          brokerName: "broker-a",
          epoch: this.promotedAtOffset > 0 ? 1 : 0,
          promotedAtOffset: this.promotedAtOffset,
          minOffset,
          maxOffset,
          haAddress: "",
          slaves: [],
          roleChange: "",
        }));
    }
  }
}

function answer(body: Uint8Array): RemotingCommand {
  return createResponse(ResponseCode.SUCCESS, null, {}, body);
}

async function compare(
  own: MessageStore,
  master: FakeMaster,
  promotedAtOffset = 0,
): Promise<LogComparison> {
  const log = new HAMasterLog(master, "m:10911");
  return await compareTails(
    {
      log: own.replicaLog,
      selectOneMessageByOffset: (it) => own.selectOneMessageByOffset(it),
      promotedAtOffset,
    },
    log,
    await log.bounds(),
  );
}

/** In short: what it is, why, and the cure. */
function shown(it: LogComparison): unknown {
  return it.kind === "prefix" ? "prefix" : [it.problem, it.cure];
}

test("A prefix is one, up to the same end too", async () => {
  const own = await storeOf(...names(10));
  for (const count of [10, 11]) {
    const master = new FakeMaster(await storeOf(...names(count)));
    assertEquals(shown(await compare(own, master)), "prefix");
  }
});

test("What differs in the last 64 KiB is seen, although the last records are equal", async () => {
  const middle = names(60);
  middle[40] = "other";
  const own = await storeOf(...middle);
  const store = await storeOf(...names(70));
  assert(own.maxPhyOffset > COMPARED_TAIL_SIZE);
  const master = new FakeMaster(store);
  const compared = await compare(own, master);
  assertEquals(shown(compared), [
    "diverged",
    { kind: "reseed", bytes: store.maxPhyOffset },
  ]);
  assert(compared.kind === "stop" && compared.reason.includes("differ from"));
  // Of an Apache master only the last record is known.
  master.isApache = true;
  assertEquals(shown(await compare(own, master)), "prefix");
});

test("A slave that is longer is cut at its master's end", async () => {
  const own = await storeOf(...names(30));
  const store = await storeOf(...names(25));
  const master = new FakeMaster(store);
  assertEquals(shown(await compare(own, master)), [
    "diverged",
    { kind: "cut", offset: store.maxPhyOffset },
  ]);
  master.isApache = true;
  assertEquals(shown(await compare(own, master)), [
    "diverged",
    { kind: "reseed", bytes: store.maxPhyOffset },
  ]);
});

test("A demoted master is cut where the other one was promoted", async () => {
  const promotedAt = (await storeOf(...names(20))).maxPhyOffset;
  const own = await storeOf(...names(20), ...names(5, "lost"));
  for (const more of [2, 5, 9]) {
    const store = await storeOf(...names(20), ...names(more, "new"));
    const master = new FakeMaster(store);
    master.promotedAtOffset = promotedAt;
    assertEquals(shown(await compare(own, master)), [
      "diverged",
      { kind: "cut", offset: promotedAt },
    ]);
  }
});

test("A demoted master that was promoted with less, at the same time, is cut where it was promoted", async () => {
  const offset = (await storeOf(...names(18))).maxPhyOffset;
  const own = await storeOf(...names(18), ...names(5, "lost"));
  const master = new FakeMaster(
    await storeOf(...names(20), ...names(9, "new")),
  );
  master.promotedAtOffset = (await storeOf(...names(20))).maxPhyOffset;
  assertEquals(shown(await compare(own, master, offset)), [
    "diverged",
    { kind: "cut", offset },
  ]);
});

test("Where the logs differ before the promotion nothing is cut", async () => {
  const promotedAt = (await storeOf(...names(20))).maxPhyOffset;
  const own = await storeOf(...names(19), "other", ...names(5, "lost"));
  const master = new FakeMaster(
    await storeOf(...names(20), ...names(9, "new")),
  );
  master.promotedAtOffset = promotedAt;
  const compared = await compare(own, master);
  assert(compared.kind === "stop" && compared.cure?.kind === "reseed");
});

test("A slave below the master's first byte is re-seeded", async () => {
  const own = await storeOf(...names(3));
  const store = await storeOf(...names(200));
  const master = new FakeMaster(store);
  master.minOffset = FILE_SIZE;
  const compared = await compare(own, master);
  assertEquals(shown(compared), [
    "needs-reseed",
    { kind: "reseed", bytes: store.maxPhyOffset - FILE_SIZE },
  ]);
});
