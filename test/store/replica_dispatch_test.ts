import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { FileError } from "../../src/io/file_system.ts";
import { ReplicaDispatch } from "../../src/store/replica_dispatch.ts";

const MIB = 1024 * 1024;

/** A log that grows, and a dispatch that does as it is told. */
function rig(behindBytesMax = 64 * MIB) {
  const reput = {
    reputFromOffset: 0,
    slices: [] as number[],
    get dispatchBehindBytes() {
      return log.maxOffset - this.reputFromOffset;
    },
    doReput(slice = 4 * MIB) {
      this.slices.push(slice);
      const end = Math.min(log.maxOffset, this.reputFromOffset + slice);
      this.reputFromOffset = end;
      return end < log.maxOffset;
    },
  };
  const log = {
    minOffset: 0,
    maxOffset: 0,
    failure: undefined as Error | undefined,
    readAtAsync: (offset: number, target: Uint8Array) => {
      assert(offset + target.length <= log.maxOffset);
      const { failure } = log;
      return failure === undefined
        ? Promise.resolve()
        : Promise.reject(failure);
    },
  };
  const dispatch = new ReplicaDispatch(log, reput, behindBytesMax);
  const append = (size: number, count = 1) => {
    for (; count > 0; count--) {
      log.maxOffset += size;
      dispatch.onAppended(size);
    }
  };
  return { reput, log, dispatch, append };
}

async function turns(count: number): Promise<void> {
  for (; count > 0; count--) await null;
}

test("ReplicaDispatch keeps up while little arrives", () => {
  const { reput, dispatch, append } = rig();
  append(100_000, 30);
  assertEquals(reput.dispatchBehindBytes, 0);
  assertEquals(dispatch.isBusy, false);
});

test("ReplicaDispatch falls behind while bytes arrive in bulk, but not without end", () => {
  const { reput, dispatch, append } = rig();
  append(MIB, 40);
  assert(dispatch.isBusy);
  assertEquals(reput.slices.at(-1), MIB / 32);
  assert(reput.dispatchBehindBytes > 30 * MIB);
  append(MIB, 100);
  assert(reput.dispatchBehindBytes < 66 * MIB);
});

test("ReplicaDispatch drains slice by slice once a tick without a burst has passed", async () => {
  const { reput, dispatch, append } = rig();
  append(MIB, 40);
  dispatch.tick();
  assert(dispatch.isBusy);
  const behind = reput.dispatchBehindBytes;
  await turns(10);
  assertEquals(reput.dispatchBehindBytes, behind);
  dispatch.tick();
  assert(dispatch.isBusy);
  await turns(300);
  assert(reput.dispatchBehindBytes <= MIB);
  assertEquals(dispatch.isBusy, false);
});

test("ReplicaDispatch ends its drain for a new burst, a failing read and a stop", async () => {
  const { reput, log, dispatch, append } = rig();
  const restart = () => {
    dispatch.tick();
    dispatch.tick();
  };
  append(MIB, 40);
  restart();
  append(MIB, 8);
  await turns(10);
  assert(reput.dispatchBehindBytes > 30 * MIB);
  log.failure = new FileError("Cannot read", "other", "/log");
  restart();
  await turns(10);
  assertEquals(dispatch.isBusy, false);
  log.failure = undefined;
  log.minOffset = log.maxOffset;
  restart();
  assertEquals(dispatch.isBusy, false);
  log.minOffset = 0;
  restart();
  dispatch.stop();
  await turns(10);
  assert(reput.dispatchBehindBytes > 30 * MIB);
  restart();
  assertEquals(dispatch.isBusy, false);
});
