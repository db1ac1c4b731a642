import { test } from "node:test";
import { assertEquals } from "@std/assert";
import {
  GroupTransferService,
  type GroupTransferStatus,
  replicatedOffsetOf,
  type SlaveAck,
} from "../../src/ha/group_transfer_service.ts";

/** Slaves that have everything up to so far. */
function acksOf(...slaveAckOffsets: number[]): SlaveAck[] {
  return slaveAckOffsets.map((slaveAckOffset) => ({
    slaveAckOffset,
    coversFrom: 0,
  }));
}

/** Waits and how they ended, as `offset:status`. */
class Rig {
  readonly service = new GroupTransferService(1000);
  readonly ended: string[] = [];

  wait(nextOffset: number, deadlineMs: number, ackNums = 1): void {
    this.service.wait(
      nextOffset,
      ackNums,
      deadlineMs,
      (status) => this.ended.push(`${nextOffset}:${status}`),
    );
  }
}

test("GroupTransferService ends a wait by offset", () => {
  const rig = new Rig();
  for (const it of [100, 200, 300]) rig.wait(it, 3_000);
  rig.service.onAcks(acksOf(99));
  assertEquals(rig.ended, []);
  rig.service.onAcks(acksOf(200));
  assertEquals(rig.ended, ["100:PUT_OK", "200:PUT_OK"]);
  assertEquals(rig.service.pendingCount, 1);
});

test("GroupTransferService ends a wait by deadline, not by wake-ups", () => {
  const rig = new Rig();
  rig.wait(600_000, 3_000);
  // A body of 600 KiB on a slow link: a thousand acks, none of them enough.
  for (let nowMs = 0; nowMs < 3_000; nowMs += 3) {
    rig.service.onAcks(acksOf(nowMs * 100));
    rig.service.tick(acksOf(nowMs * 100), nowMs);
  }
  assertEquals(rig.ended, []);
  rig.service.tick(acksOf(300_000), 3_000);
  assertEquals(rig.ended, ["600000:FLUSH_SLAVE_TIMEOUT"]);
  assertEquals(rig.service.pendingCount, 0);
});

test("GroupTransferService takes an ack before the deadline of the same tick", () => {
  const rig = new Rig();
  rig.wait(100, 3_000);
  rig.service.tick(acksOf(100), 5_000);
  assertEquals(rig.ended, ["100:PUT_OK"]);
});

test("GroupTransferService counts only slaves that are there", () => {
  const rig = new Rig();
  rig.wait(100, 3_000);
  rig.service.onAcks(acksOf());
  rig.service.onAcks(acksOf(50));
  assertEquals(rig.ended, []);
  rig.wait(200, 3_000, 2);
  rig.service.onAcks(acksOf(500));
  assertEquals(rig.ended, ["100:PUT_OK"]);
  rig.service.onAcks(acksOf(500, 199));
  rig.service.onAcks(acksOf(500, 200));
  assertEquals(rig.ended, ["100:PUT_OK", "200:PUT_OK"]);
});

test("GroupTransferService does not take an empty slave for one that has older puts", () => {
  const rig = new Rig();
  for (const it of [4000, 4096, 5000, 6000]) rig.wait(it, 3_000);
  const empty = { slaveAckOffset: 5000, coversFrom: 4096 };
  rig.service.onAcks([empty]);
  assertEquals(rig.ended, ["5000:PUT_OK"]);
  rig.service.onAcks([empty, { slaveAckOffset: 4000, coversFrom: 0 }]);
  assertEquals(rig.ended, ["5000:PUT_OK", "4000:PUT_OK"]);
  rig.service.tick([{ slaveAckOffset: 6000, coversFrom: 4096 }], 3_000);
  assertEquals(rig.ended.slice(2), [
    "6000:PUT_OK",
    "4096:FLUSH_SLAVE_TIMEOUT",
  ]);
});

test("GroupTransferService keeps its order when deadlines and offsets do not", () => {
  const rig = new Rig();
  rig.wait(300, 9_000);
  rig.wait(100, 1_000);
  rig.wait(200, 5_000);
  rig.service.tick(acksOf(), 999);
  assertEquals(rig.ended, []);
  rig.service.tick(acksOf(), 1_000);
  rig.service.tick(acksOf(), 5_000);
  rig.service.onAcks(acksOf(300));
  assertEquals(rig.ended, [
    "100:FLUSH_SLAVE_TIMEOUT",
    "200:FLUSH_SLAVE_TIMEOUT",
    "300:PUT_OK",
  ]);
});

test("GroupTransferService has a limit, and a shutdown leaves nobody waiting", () => {
  const service = new GroupTransferService(2);
  const ended: GroupTransferStatus[] = [];
  for (let count = 0; count < 3; count++) {
    service.wait(100, 1, 3_000, (status) => ended.push(status));
  }
  assertEquals(ended, ["FLUSH_SLAVE_TIMEOUT"]);
  service.shutdown();
  assertEquals(ended.length, 3);
  assertEquals(service.pendingCount, 0);
});

test("GroupTransferService lets a done callback wait again", () => {
  const service = new GroupTransferService(10);
  let count = 0;
  const again = () => {
    if (++count < 3) service.wait(100, 1, 3_000, again);
  };
  service.wait(100, 1, 3_000, again);
  for (let times = 0; times < 3; times++) service.onAcks(acksOf(100));
  assertEquals(count, 3);
});

test("GroupTransferService serves 100,000 waits in their order", () => {
  const service = new GroupTransferService(100_000);
  let done = 0;
  for (let offset = 1; offset <= 100_000; offset++) {
    service.wait(offset, 1, 3_000, () => void done++);
    if (offset % 7 === 0) service.onAcks(acksOf(offset - 5));
  }
  service.onAcks(acksOf(100_000));
  assertEquals(done, 100_000);
});

test("replicatedOffsetOf() is the highest offset that enough slaves have", () => {
  assertEquals(replicatedOffsetOf([], 1), -1);
  assertEquals(replicatedOffsetOf([5, 9, 7], 1), 9);
  assertEquals(replicatedOffsetOf([5, 9, 7], 2), 7);
  assertEquals(replicatedOffsetOf([5, 9, 7], 3), 5);
  assertEquals(replicatedOffsetOf([5, 9, 7], 4), -1);
});
