import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { encodeMessageBatch } from "../../src/model/message_batch.ts";
import { MessageSysFlag } from "../../src/model/message_sys_flag.ts";
import { decodeDispatchRequest } from "../../src/store/commit_log_record.ts";
import { DelayLevelTable } from "../../src/store/delay_level_table.ts";
import type { DispatchRequest } from "../../src/store/dispatch_request.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import { RecordScan } from "../../src/store/record_scan.ts";
import { ReputMessageService } from "../../src/store/reput_message_service.ts";
import { brokerInner } from "../model/message_fixture.ts";
import { SimRandom } from "../sim/sim_random.ts";
import {
  bytesOf,
  get,
  LinesLogger,
  messagesOf,
  put,
  SMALL,
  StoreSite,
} from "./message_store_fixture.ts";

const levels = new DelayLevelTable(SMALL.messageDelayLevel);

/** Every record of the log, as recovery reads it. */
function requestsInLog(store: MessageStore): DispatchRequest[] {
  const log = store.commitLog;
  const scan = new RecordScan(log, log.minOffset);
  const found: DispatchRequest[] = [];
  for (;;) {
    const step = scan.step(log.maxOffset, true);
    if (step.kind === "blank") scan.offset = log.nextFileOffset(scan.offset);
    else if (step.kind === "record") {
      found.push(
        decodeDispatchRequest(scan.bytes, scan.view, step.position, levels),
      );
      scan.offset += step.size;
    } else return found;
  }
}

test("A put and a read of the log give the same DispatchRequest", async () => {
  const site = new StoreSite();
  const store = await site.open({ maxMessageSize: 3_000 });
  const heard: unknown[] = [];
  store.messageArrivingListener = (...it) => void heard.push(it);
  put(store);
  put(store, { topic: "%RETRY%" + "g".repeat(200), body: new Uint8Array(0) });
  put(store, {
    propertiesText: "TAGS\u0001標籤\u0002KEYS\u0001a b",
    tagsCode: 27_231_001,
    bornHost: { address: new Uint8Array(16).fill(3), port: 1 },
  });
  put(store, {
    topic: "SCHEDULE_TOPIC_XXXX",
    queueId: 2,
    propertiesText: "DELAY\u00013\u0002TAGS\u0001x\u0002",
    tagsCode: 1,
  });
  put(store, { topic: "SCHEDULE_TOPIC_XXXX", propertiesText: "", tagsCode: 0 });
  put(store, { sysFlag: MessageSysFlag.TRANSACTION_COMMIT_TYPE });
  store.putMessages({
    ...brokerInner(),
    isBatch: true,
    body: encodeMessageBatch([1, 2, 3].map((it) => ({
      flag: it,
      body: new Uint8Array(500),
      propertiesText: `TAGS\u0001T${it}\u0002`,
    }))),
  });
  const fromLog = requestsInLog(store).map((it) => [
    it.topic,
    it.queueId,
    it.queueOffset + 1,
    it.tagsCode,
    it.storeTimestamp,
    it.propertiesText,
  ]);
  assertEquals(fromLog.length, 9);
  assertEquals(
    heard.filter((_, index) => index !== 2),
    fromLog.filter((_, index) => index !== 2),
  );
  const scheduled = requestsInLog(store)[3]!;
  assertEquals(scheduled.tagsCode, scheduled.storeTimestamp + 10_000);
  await store.shutdown();
});

test("messageVisibleAfter=flush shows records after the sync, append at once", async () => {
  const site = new StoreSite();
  const store = await site.open({ messageVisibleAfter: "flush" });
  put(store);
  assertEquals(get(store, 0).status, "NO_MATCHED_LOGIC_QUEUE");
  assertEquals(store.confirmOffset, 0);
  assert(store.dispatchBehindBytes > 0);
  await site.pass(store, 11_000);
  assertEquals(messagesOf(get(store, 0)).length, 1);
  assertEquals(store.dispatchBehindBytes, 0);
  put(store);
  await store.shutdown();
  const again = await site.open();
  assertEquals(messagesOf(get(again, 0)).length, 2);
  await again.shutdown();
});

test("messageVisibleAfter=replicated holds records back, before and after a restart", async () => {
  const site = new StoreSite();
  const options = { messageVisibleAfter: "replicated" } as const;
  const store = await site.open(options);
  const first = put(store);
  put(store);
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), 0);
  store.replicatedOffset = first.phyOffset + first.size;
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), 1);
  await store.shutdown();
  assert(site.disk.stat("/data/store/abort") !== undefined, "not all is said");
  const again = await site.open(options);
  assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), 1);
  assertEquals(put(again).queueOffset, 2, "offsets count what is in the log");
  again.replicatedOffset = again.maxPhyOffset;
  assertEquals(messagesOf(get(again, 0)).length, 3);
  await again.shutdown();
});

for (const how of ["kill", "crash"] as const) {
  test(`messageVisibleAfter=replicated keeps readers in their place after a ${how}`, async () => {
    const site = new StoreSite();
    const options = { messageVisibleAfter: "replicated" } as const;
    const store = await site.open(options);
    put(store);
    put(store);
    await site.pass(store, 2_000); // The log is flushed, the checkpoint is not.
    store.replicatedOffset = store.maxPhyOffset;
    put(store);
    await site.pass(store, 100);
    site.disk[how]();
    const again = await site.open(options);
    const seen = how === "kill" ? 2 : 0;
    assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), seen);
    // Who has read two messages waits for the third, and is not sent back to the first.
    const { nextBeginOffset, status } = get(again, 2);
    assertEquals([nextBeginOffset, status], [2, "OFFSET_OVERFLOW_ONE"]);
    assertEquals(again.getMaxOffsetInQueue("TopicTest", 3, false) >= 2, true);
    assertEquals(get(again, 9).status === "OFFSET_OVERFLOW_ONE", false);
    again.replicatedOffset = again.maxPhyOffset;
    assertEquals(again.getMaxOffsetInQueue("TopicTest", 3) >= 2, true);
    await again.shutdown();
  });
}

test("Records beyond the remembered ones are read from the log again", async () => {
  const site = new StoreSite();
  const store = await site.open({
    messageVisibleAfter: "flush",
    mappedFileSizeCommitLog: 1_048_576,
    mappedFileSizeConsumeQueue: 20_000,
    messageIndexEnable: false,
    flushDiskType: "SYNC_FLUSH",
  });
  const count = 33_000;
  for (let sent = 0; sent < count; sent++) {
    store.putMessage(
      brokerInner({ body: bytesOf("x"), waitStoreMsgOk: false }),
    );
  }
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), 0);
  await site.pass(store, 500);
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), count);
  assertEquals(store.dispatchBehindBytes, 0);
  put(store, { waitStoreMsgOk: false });
  await site.pass(store, 100);
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), count + 1);
  await site.clock.complete(store.shutdown());
});

test("A slave dispatches bytes of its master, however they are cut", async () => {
  const master = await new StoreSite().open();
  const random = new SimRandom(20_271);
  for (let count = 0; count < 30; count++) {
    put(master, { body: new Uint8Array(random.nextInt(700)) });
  }
  const site = new StoreSite();
  const slave = await site.open({ brokerRole: "SLAVE" });
  const end = master.maxPhyOffset;
  for (let offset = 0; offset < end;) {
    const size = Math.min(end - offset, 1 + random.nextInt(900));
    const bytes = new Uint8Array(size);
    master.commitLog.readAt(offset, bytes);
    if (offset > 0) assert(!slave.appendToCommitLog(offset + 1, bytes));
    assert(slave.appendToCommitLog(offset, bytes));
    offset += size;
  }
  assertEquals(slave.maxPhyOffset, end);
  assertEquals(
    messagesOf(get(slave, 0)).map((it) => it.phyOffset),
    messagesOf(get(master, 0)).map((it) => it.phyOffset),
  );
  assertEquals(requestsInLog(slave), requestsInLog(master));
  await slave.shutdown();
  await master.shutdown();
});

test("A slave far behind appends first; its queues follow, and a stop waits for them", async () => {
  const options = {
    mappedFileSizeCommitLog: 16_777_216,
    maxMessageSize: 1_048_576,
    messageIndexEnable: false,
  };
  const master = await new StoreSite().open(options);
  const count = 1_600;
  for (let sent = 0; sent < count; sent++) {
    put(master, { body: new Uint8Array(5_000) });
  }
  const end = master.maxPhyOffset;
  for (const endsBy of ["ticks", "shutdown"]) {
    const site = new StoreSite();
    const slave = await site.open({ ...options, brokerRole: "SLAVE" });
    for (let offset = 0; offset < end; offset += 524_288) {
      const bytes = new Uint8Array(Math.min(524_288, end - offset));
      master.commitLog.readAt(offset, bytes);
      assert(slave.appendToCommitLog(offset, bytes));
    }
    assert(slave.dispatchBehindBytes > 1_000_000);
    if (endsBy === "ticks") await site.pass(slave, 500);
    else await site.clock.complete(slave.shutdown());
    assertEquals(slave.dispatchBehindBytes, 0);
    assertEquals(slave.getMaxOffsetInQueue("TopicTest", 3), count);
    await site.clock.complete(slave.shutdown());
  }
  await master.shutdown();
});

test("An empty slave's log begins where its master says", async () => {
  const master = await new StoreSite().open();
  for (let count = 0; count < 9; count++) {
    put(master, { body: new Uint8Array(1000) });
  }
  const slave = await new StoreSite().open({ brokerRole: "SLAVE" });
  const from = 8192;
  const bytes = new Uint8Array(master.maxPhyOffset - from);
  master.commitLog.readAt(from, bytes);
  assert(slave.appendToCommitLog(from, bytes));
  assertEquals(slave.minPhyOffset, from);
  assertEquals(slave.getMinOffsetInQueue("TopicTest", 3), 6);
  assertEquals(slave.getMaxOffsetInQueue("TopicTest", 3), 9);
  assertEquals(messagesOf(get(slave, 6)).length, 3);
  await slave.shutdown();
  await master.shutdown();
});

/** A log of five records whose third body is broken, and what dispatch makes of it. */
async function reputOverBroken(isSlave: boolean) {
  const site = new StoreSite();
  const store = await site.open();
  const places = [1, 2, 3, 4, 5].map(() => put(store));
  const broken = places[2]!;
  const file = store.commitLog.mappedFileQueue.fileAt(broken.phyOffset)!;
  file.writeAt(broken.phyOffset + 84, Uint8Array.of(0x7f));
  const seen: number[] = [];
  const logger = new LinesLogger();
  const reput = new ReputMessageService(store.commitLog, levels, {
    dispatch: (it) => void seen.push(it.queueOffset),
    onArriving: () => {},
    confirmOffset: () => store.maxPhyOffset,
    onDispatchFailed: () => {},
    isSlave: () => isSlave,
  }, logger);
  reput.doReput();
  reput.doReput();
  return { reput, seen, logger };
}

test("ReputMessageService goes on behind a broken record on a master", async () => {
  const { reput, seen, logger } = await reputOverBroken(false);
  assertEquals(seen, [0, 1, 3, 4]);
  assertEquals(reput.corruptRecordCount, 1);
  assertEquals(reput.dispatchBehindBytes, 0);
  assertEquals(logger.lines.length, 1);
});

test("ReputMessageService stops at a broken record on a slave, and says so once", async () => {
  const { reput, seen, logger } = await reputOverBroken(true);
  assertEquals(seen, [0, 1]);
  assert(reput.stallReason!.includes("body size"));
  assertEquals(logger.lines.length, 1);
});

test("A consume queue that cannot be written stops writes and loses nothing", async () => {
  const site = new StoreSite();
  const store = await site.open();
  put(store);
  await site.pass(store, 200);
  site.disk.faults.failWrite = (path) => path.includes("/consumequeue/");
  const accepted: number[] = [put(store).queueOffset, put(store).queueOffset];
  await site.pass(store, 200);
  assertEquals(put(store).status, "SERVICE_NOT_AVAILABLE");
  assert(store.unwritableReason!.includes("consume queue"));
  site.disk.faults.failWrite = undefined;
  await site.pass(store, 200);
  assertEquals(store.unwritableReason, null);
  accepted.push(put(store).queueOffset);
  assertEquals(accepted, [1, 2, 3]);
  assertEquals(messagesOf(get(store, 0)).length, 4);
  await store.shutdown();
});
