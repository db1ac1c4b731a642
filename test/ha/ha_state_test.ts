import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { HAConnectionRuntimeInfo } from "../../src/ha/ha_runtime_info.ts";
import {
  type MasterSituation,
  masterState,
  type SlaveSituation,
  slaveState,
} from "../../src/ha/ha_state.ts";

function connection(
  changes: Partial<HAConnectionRuntimeInfo> = {},
): HAConnectionRuntimeInfo {
  return {
    addr: "10.0.0.6:50000",
    state: "TRANSFER",
    reason: null,
    inSync: true,
    slaveRequestOffset: 0,
    transferFromWhere: 1_000_000,
    slaveAckOffset: 1_000_000,
    diff: 0,
    lagMs: 0,
    transferredByteInSecond: 0,
    inFlightBytes: 0,
    silentMs: 0,
    connectedAt: 1,
    lastAckAt: 1,
    ...changes,
  };
}

const MASTER: MasterSituation = {
  haAddress: "10.0.0.5:10912",
  isSync: true,
  isDegraded: false,
  haSyncMode: "strict",
  connections: [connection()],
  problems: [],
  neighbourWarning: null,
  fencedReason: null,
};

const SLAVE: SlaveSituation = {
  info: {
    masterAddr: "10.0.0.5:10912",
    state: "TRANSFER",
    activated: true,
    maxOffset: 10,
    masterFlushOffset: 10,
    reportedOffset: 10,
    diff: 0,
    lagMs: 0,
    transferredByteInSecond: 0,
    connectedAt: 1,
    lastReadTimestamp: 1,
    lastWriteTimestamp: 1,
    reconnects: 0,
    lastError: null,
  },
  problem: null,
  reason: null,
  masterRole: "ASYNC_MASTER",
  neighbourWarning: null,
};

/** Word and reason of a master. */
function master(changes: Partial<MasterSituation>): string {
  const { reason, state } = masterState({ ...MASTER, ...changes });
  assertEquals(reason === null, state === "healthy");
  return `${state}: ${reason}`;
}

test("masterState() has a word for each situation, and a reason unless healthy", () => {
  assertEquals(masterState(MASTER), { state: "healthy", reason: null });
  assert(master({ connections: [] }).includes("SLAVE_NOT_AVAILABLE"));
  assertEquals(
    master({ connections: [], isSync: false }),
    "alone: No slave is connected to 10.0.0.5:10912",
  );
  const behind = { diff: 5_000_000, lagMs: 3_000 };
  assertEquals(
    master({ connections: [connection(), connection(behind)] }),
    "catching-up: Slave 10.0.0.6:50000 is 5000000 bytes, 3.0 s behind",
  );
  assert(
    master({ connections: [connection({ ...behind, lagMs: 30_000 })] })
      .startsWith("catching-up"),
  );
  assert(
    master({
      connections: [
        connection({ ...behind, lagMs: 30_000, silentMs: 12_000 }),
      ],
    }).includes("stalled: Slave 10.0.0.6:50000 is 5000000 bytes behind and"),
  );
  assert(master({ isDegraded: true }).startsWith("degraded"));
  assert(
    master({
      neighbourWarning: { kind: "rival", text: "brokerId=0 is taken twice" },
    })
      .startsWith("degraded: brokerId=0"),
  );
  assertEquals(
    master({
      problems: [{ addr: "s:1", problem: "needs-reseed", reason: "too old" }],
    }),
    "needs-reseed: Slave s:1 is not served: too old",
  );
  // A link that never acked is no slave: a port scanner is not a pair.
  assert(
    master({ connections: [connection({ lagMs: null, diff: null })] })
      .startsWith("alone: Nobody who is connected"),
  );
});

test("masterState() ignores a lag of a few bytes or of a moment", () => {
  const blip = [connection({ diff: 1_000, lagMs: 5_000 })];
  assertEquals(masterState({ ...MASTER, connections: blip }).state, "healthy");
  const burst = [connection({ diff: 9_000_000, lagMs: 20 })];
  assertEquals(masterState({ ...MASTER, connections: burst }).state, "healthy");
});

test("slaveState() names what stops it, and what it lacks", () => {
  assertEquals(slaveState(SLAVE), { state: "healthy", reason: null });
  assertEquals(
    slaveState({ ...SLAVE, problem: "diverged", reason: "other bytes" }),
    { state: "diverged", reason: "other bytes" },
  );
  const warning = {
    kind: "no-master",
    text: "No master with brokerName=x",
  } as const;
  assertEquals(
    slaveState({
      ...SLAVE,
      problem: "disconnected",
      reason: "unknown",
      neighbourWarning: warning,
    }),
    { state: "disconnected", reason: warning.text },
  );
  // Replication that runs is the truth.
  assertEquals(
    slaveState({ ...SLAVE, neighbourWarning: warning }).state,
    "healthy",
  );
  const rival = { kind: "rival", text: "taken" } as const;
  assertEquals(
    slaveState({ ...SLAVE, neighbourWarning: rival }).state,
    "degraded",
  );
  const gap = slaveState({ ...SLAVE, masterRole: "SLAVE" });
  assertEquals(gap.state, "degraded");
  assert(gap.reason!.includes("pocketmq ha promote"));
  const behind = { ...SLAVE.info, diff: 5_000_000, lagMs: 2_500 };
  assertEquals(
    slaveState({ ...SLAVE, info: behind }).reason,
    "This slave is 5000000 bytes, 2.5 s behind 10.0.0.5:10912",
  );
  const comparing = { ...SLAVE.info, state: "HANDSHAKE" as const };
  assertEquals(slaveState({ ...SLAVE, info: comparing }).state, "catching-up");
});

test("a master that was overtaken is diverged, whatever else is to be said", () => {
  assertEquals(
    masterState({
      ...MASTER,
      neighbourWarning: { kind: "rival", text: "two brokers" },
      fencedReason: "another one was promoted",
    }),
    { state: "diverged", reason: "another one was promoted" },
  );
});

test("a master that has overtaken another one tells its own state, and what the other wants", () => {
  const neighbourWarning = { kind: "overtaken", text: "demote b" } as const;
  const alone = master({ connections: [], isSync: false, neighbourWarning });
  assertEquals(
    alone,
    "alone: No slave is connected to 10.0.0.5:10912; demote b",
  );
  assertEquals(masterState({ ...MASTER, neighbourWarning }), {
    state: "healthy",
    reason: "demote b",
  });
});
