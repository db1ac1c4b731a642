import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { HAPeerAnswer } from "../../src/broker/ha_peer_inquiry.ts";
import {
  type DemotionSituation,
  type PromotionSituation,
  refusalOfDemotion,
  refusalOfPromotion,
} from "../../src/broker/ha_role_decision.ts";

const PEER: HAPeerAnswer = {
  address: "10.0.0.5:10911",
  role: "SLAVE",
  brokerName: "broker-a",
  brokerId: 1,
  epoch: 0,
  maxOffset: 1_000,
  haAddress: "10.0.0.5:10912",
  slaves: [],
  roleChange: "",
};

const SLAVE: PromotionSituation = {
  role: "SLAVE",
  fencedReason: null,
  maxOffset: 1_000,
  standing: { kind: "follows", behindBytes: 0, behindMs: 0 },
  peers: [],
  refusing: [],
  differingTables: null,
  hasStoodStill: false,
  silentSlaves: [],
};

const MASTER: DemotionSituation = {
  role: "SYNC_MASTER",
  epoch: 3,
  isSuperseded: false,
  peers: [],
  inSyncSlaveNums: 1,
  areTablesInSync: true,
  canFindMaster: true,
};

const promotion = (change: Partial<PromotionSituation>) =>
  refusalOfPromotion({ ...SLAVE, ...change });
const demotion = (change: Partial<DemotionSituation>) =>
  refusalOfDemotion({ ...MASTER, ...change });

test("a slave that had everything of a master that is gone may be promoted", () => {
  assertEquals(promotion({}), null);
  // What is under way between any pair is no lag.
  const standing = { kind: "follows", behindBytes: 65_536, behindMs: 60_000 };
  assertEquals(promotion({ standing } as Partial<PromotionSituation>), null);
  // The former master lives as a slave and has the same log.
  assertEquals(
    promotion({ peers: [PEER], standing: { kind: "unknown" } }),
    null,
  );
});

test("a promotion that would lose something is refused with its reason", () => {
  const cases: [Partial<PromotionSituation>, string, boolean][] = [
    [{ peers: [{ ...PEER, role: "ASYNC_MASTER" }] }, PEER.address, false],
    [{ maxOffset: 0 }, "never had any data", false],
    [
      {
        standing: {
          kind: "stopped",
          problem: "diverged",
          reason: "it differs",
        },
      },
      "diverged: it differs",
      false,
    ],
    [{ standing: { kind: "unknown" } }, "is not known", false],
    [
      {
        standing: { kind: "follows", behindBytes: 70_000, behindMs: 1_001 },
      },
      "70000 bytes",
      false,
    ],
    [{ peers: [{ ...PEER, maxOffset: 1_001 }] }, "ends at 1001", true],
    [{ peers: [PEER], differingTables: PEER.address }, "positions", true],
    [{ hasStoodStill: true }, "stood still", false],
    [{ silentSlaves: ["10.0.0.7:1"] }, "10.0.0.7:1 followed", false],
    // One that answers says nothing of one that does not.
    [
      { peers: [PEER], silentSlaves: ["10.0.0.7:1"] },
      "10.0.0.7:1 followed",
      false,
    ],
  ];
  for (const [change, reason, isTransient] of cases) {
    const refusal = promotion(change);
    assert(refusal !== null, reason);
    assert(refusal.reason.includes(reason), refusal.reason);
    assert(refusal.isForcible);
    assertEquals(refusal.isTransient, isTransient, reason);
  }
});

test("a master is not promoted, but by force where another one has overtaken it", () => {
  const refusal = promotion({ role: "ASYNC_MASTER" });
  assertEquals(refusal?.isForcible, false);
  const fencedReason = "another one was promoted";
  const fenced = promotion({ role: "ASYNC_MASTER", fencedReason });
  assertEquals([fenced?.reason, fenced?.isForcible], [fencedReason, true]);
});

test("a master may be demoted when a slave can take its place, or another one has", () => {
  assertEquals(demotion({}), null);
  const alone = { inSyncSlaveNums: 0, areTablesInSync: false };
  assertEquals(demotion({ ...alone, isSuperseded: true }), null);
  const promoted = { ...PEER, role: "SYNC_MASTER", epoch: 4 };
  assertEquals(demotion({ ...alone, peers: [promoted] }), null);
});

test("refusals that force overrides say what else to do, and what force costs", () => {
  const refusals = [
    promotion({ maxOffset: 0 }),
    promotion({ standing: { kind: "unknown" } }),
    promotion({
      standing: { kind: "follows", behindBytes: 70_000, behindMs: 1_001 },
    }),
    demotion({ inSyncSlaveNums: 0 }),
  ];
  for (const it of refusals) {
    assert(
      /wait/i.test(it!.reason) && it!.reason.includes("--force"),
      it!.reason,
    );
  }
  assert(
    promotion({ role: "ASYNC_MASTER" })!.reason.includes("an ASYNC_MASTER"),
  );
});

test("a slave that lives and is not in sync yet is waited for", () => {
  const early = demotion({ inSyncSlaveNums: 0, peers: [PEER] });
  assertEquals(early?.isTransient, true);
  assertEquals(demotion({ inSyncSlaveNums: 0 })?.isTransient, false);
  assertEquals(demotion({ areTablesInSync: false })?.isTransient, true);
});

test("a demotion that leaves nobody is refused with its reason", () => {
  const cases: [Partial<DemotionSituation>, string, boolean][] = [
    [{ role: "SLAVE" }, "SLAVE already", false],
    [{ canFindMaster: false }, "--master", false],
    [{ inSyncSlaveNums: 0 }, "No slave is in sync", true],
    [{ areTablesInSync: false }, "positions", true],
    // A rival of the same epoch was not promoted over this one.
    [
      {
        inSyncSlaveNums: 0,
        peers: [{ ...PEER, role: "SYNC_MASTER", epoch: 3 }],
      },
      "No slave is in sync",
      true,
    ],
  ];
  for (const [change, reason, isForcible] of cases) {
    const refusal = demotion(change);
    assert(refusal !== null, reason);
    assert(refusal.reason.includes(reason), refusal.reason);
    assertEquals(refusal.isForcible, isForcible, reason);
  }
});

test("a broker that lives and refuses to answer is no silent one: it is named with the cure", () => {
  const refused = promotion({ refusing: ["10.0.0.5:10911"] });
  assert(refused!.isForcible && !refused!.isTransient);
  for (const part of ["10.0.0.5:10911", "code 16", "accessKey", "secretKey"]) {
    assert(refused!.reason.includes(part), refused!.reason);
  }
});
