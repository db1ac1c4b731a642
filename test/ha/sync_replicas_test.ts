import { test } from "node:test";
import { assertEquals } from "@std/assert";
import {
  SyncReplicas,
  type SyncReplicasOptions,
} from "../../src/ha/sync_replicas.ts";

const OPTIONS: SyncReplicasOptions = {
  allAckInSyncStateSet: false,
  enableAutoInSyncReplicas: false,
  haDegradeAfterMs: 10_000,
  haSlaveFallbehindMax: 1_000,
  haSyncMode: "strict",
  inSyncReplicas: 2,
  minInSyncReplicas: 1,
};

/** `2`: two acks, `none`, or `not-available`. */
function needed(
  options: Partial<SyncReplicasOptions>,
  acks: readonly number[],
  nextOffset = 5_000,
): string {
  const replicas = new SyncReplicas({ ...OPTIONS, ...options }, 0);
  const it = replicas.needed(acks, nextOffset);
  return it.kind === "wait" ? String(it.ackNums) : it.kind;
}

test("SyncReplicas.needed() keeps 4.9's status rules", () => {
  assertEquals(needed({}, []), "not-available");
  assertEquals(needed({}, [4_500]), "1");
  assertEquals(needed({}, [4_001]), "1");
  // A gap of haSlaveFallbehindMax or more.
  assertEquals(needed({}, [4_000]), "not-available");
  assertEquals(needed({}, [4_000, 4_999]), "1");
});

test("SyncReplicas.needed() keeps the meaning of 5.x' keys", () => {
  const near = [4_900, 4_950];
  assertEquals(needed({ inSyncReplicas: 1 }, []), "none");
  assertEquals(needed({ inSyncReplicas: 3 }, near), "2");
  assertEquals(needed({ inSyncReplicas: 3 }, [4_900]), "not-available");
  assertEquals(needed({ allAckInSyncStateSet: true }, near), "2");
  assertEquals(needed({ allAckInSyncStateSet: true }, [4_900, 0]), "1");
  const auto = { inSyncReplicas: 3, enableAutoInSyncReplicas: true };
  assertEquals(needed(auto, near), "2");
  assertEquals(needed(auto, [4_900]), "1");
  assertEquals(needed(auto, []), "none");
  assertEquals(
    needed({ ...auto, minInSyncReplicas: 2 }, []),
    "not-available",
  );
  assertEquals(needed({ haSyncMode: "async" }, []), "none");
});

test("SyncReplicas.refusalOf() refuses before storing below minInSyncReplicas", () => {
  const replicas = new SyncReplicas({ ...OPTIONS, minInSyncReplicas: 2 }, 0);
  assertEquals(replicas.refusalOf([4_900], 5_000), null);
  assertEquals(
    replicas.refusalOf([], 5_000)?.startsWith("[IN_SYNC_REPLICAS_NOT_ENOUGH]"),
    true,
  );
  assertEquals(new SyncReplicas(OPTIONS, 0).refusalOf([], 5_000), null);
});

test("SyncReplicas degrades after haDegradeAfterMs alone and comes back in sync", () => {
  const replicas = new SyncReplicas({ ...OPTIONS, haSyncMode: "degrade" }, 0);
  replicas.onSlaves([], 0, 9_999);
  assertEquals(replicas.isDegraded, false);
  assertEquals(replicas.needed([], 10).kind, "not-available");
  replicas.onSlaves([], 0, 10_000);
  assertEquals(replicas.isDegraded, true);
  assertEquals(replicas.needed([], 10).kind, "none");
  // Back, but far behind: puts must not wait for it yet.
  const far = { slaveAckOffset: 0, lastProgressMs: 11_000, lagMs: 60_000 };
  replicas.onSlaves([far], 5_000, 11_000);
  assertEquals(replicas.isDegraded, true);
  const near = { slaveAckOffset: 4_900, lastProgressMs: 12_000, lagMs: 60_000 };
  replicas.onSlaves([near], 5_000, 12_000);
  assertEquals(replicas.isDegraded, false);
  assertEquals(replicas.needed([4_900], 5_000).kind, "wait");
});

test("SyncReplicas degrades too when the slave is there but frozen", () => {
  const replicas = new SyncReplicas({ ...OPTIONS, haSyncMode: "degrade" }, 0);
  const frozen = {
    slaveAckOffset: 4_900,
    lastProgressMs: 1_000,
    lagMs: 60_000,
  };
  replicas.onSlaves([frozen], 5_000, 1_500);
  assertEquals(replicas.isDegraded, false);
  replicas.onSlaves([frozen], 5_000, 11_500);
  assertEquals(replicas.isDegraded, true);
  // An idle pair has nothing to make progress with.
  const idle = new SyncReplicas({ ...OPTIONS, haSyncMode: "degrade" }, 0);
  idle.onSlaves(
    [{ slaveAckOffset: 5_000, lastProgressMs: 0, lagMs: 60_000 }],
    5_000,
    60_000,
  );
  assertEquals(idle.isDegraded, false);
});

test("in sync is who ends where this log ends, or was not behind for a second without progress", () => {
  const it = new SyncReplicas(OPTIONS, 0);
  const isInSync = (
    slaveAckOffset: number,
    lastProgressMs: number,
    lagMs: number,
  ) => it.isInSync({ slaveAckOffset, lastProgressMs, lagMs }, 5_000, 20_000);
  assertEquals(isInSync(5_000, 0, 0), true);
  // A put after a long pause is no lag yet.
  assertEquals(isInSync(4_900, 0, 50), true);
  assertEquals(isInSync(4_900, 19_500, 14_000), true);
  assertEquals(isInSync(4_900, 6_000, 14_000), false);
});
