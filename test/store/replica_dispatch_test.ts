import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { ReplicaDispatch } from "../../src/store/replica_dispatch.ts";

const MIB = 1024 * 1024;

test("ReplicaDispatch dispatches more than what arrives while little arrives", () => {
  const dispatch = new ReplicaDispatch(64 * MIB);
  assertEquals(dispatch.onArrived(1000, 0), 2000);
  assertEquals(dispatch.onArrived(1000, 500 * MIB), 2000);
  assertEquals(dispatch.isBulk, false);
});

test("ReplicaDispatch dispatches a part of what arrives in bulk, until it is too far behind", () => {
  const dispatch = new ReplicaDispatch(64 * MIB);
  for (let count = 0; count < 8; count++) dispatch.onArrived(MIB, 0);
  assertEquals(dispatch.isBulk, true);
  assertEquals(dispatch.onArrived(MIB, 10 * MIB), MIB / 8);
  assertEquals(dispatch.onArrived(MIB, 65 * MIB), 2 * MIB);
});

test("ReplicaDispatch leaves the loop to dispatch one tick after the last burst", () => {
  const dispatch = new ReplicaDispatch(64 * MIB);
  for (let count = 0; count < 8; count++) dispatch.onArrived(MIB, 0);
  dispatch.tick();
  assert(dispatch.isBulk);
  dispatch.tick();
  assertEquals(dispatch.isBulk, false);
});
