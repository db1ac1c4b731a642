import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import type { HAStatus } from "../../src/admin/ha_routes.ts";
import { outOfBounds, statusText } from "../../src/cli/run_ha.ts";
import { ALONE } from "../admin/fake_facade.ts";

const SLAVE_LINK: HAStatus["haConnectionInfo"][number] = {
  addr: "10.0.0.6:51234",
  state: "TRANSFER",
  reason: null,
  inSync: true,
  slaveRequestOffset: 0,
  transferFromWhere: 1_000,
  slaveAckOffset: 900,
  diff: 100,
  lagMs: 4,
  transferredByteInSecond: 10,
  inFlightBytes: 0,
  silentMs: 1,
  connectedAt: 1,
  lastAckAt: 2,
};

function status(
  state: HAStatus["state"],
  ...diffs: (number | null)[]
): HAStatus {
  return {
    ...ALONE,
    state,
    haAddress: "10.0.0.5:10912",
    haConnectionInfo: diffs.map((diff) => ({ ...SLAVE_LINK, diff })),
  };
}

test("152: the exit code of `ha status` says whether any slave is further behind than allowed", () => {
  assertEquals(outOfBounds(status("healthy", 100), undefined), null);
  assertEquals(outOfBounds(status("healthy", 100), 100), null);
  const behind = "more than 99 bytes behind";
  assertEquals(outOfBounds(status("healthy", 100), 99), behind);
  assertEquals(outOfBounds(status("healthy", 5, 100), 99), behind);
  assertEquals(outOfBounds(status("healthy", null), 99), behind);
  assertEquals(outOfBounds(status("catching-up", 50), 99), null);
  assertEquals(
    outOfBounds(status("catching-up", 50), undefined),
    "catching-up",
  );
  for (const state of ["alone", "stalled", "diverged"] as const) {
    assertEquals(outOfBounds(status(state), 1e9), state);
  }
});

test("146: `ha status` names the address of replication apart from that of the clients", () => {
  const [first] = statusText(status("healthy", 0)).split("\n");
  assert(first!.includes("at 10.0.0.5:10912: healthy"), first);
});
