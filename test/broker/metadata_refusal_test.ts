import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { metadataRefusal } from "../../src/broker/ha_assembly.ts";
import type { HAClientServiceView } from "../../src/ha/ha_client_service.ts";

const VIEW: HAClientServiceView = {
  masterAddr: "127.0.0.1:10912",
  state: "READY",
  problem: null,
  reason: null,
  cure: null,
  link: null,
  connectedAt: null,
  lastReadTimestamp: null,
  lastWriteTimestamp: null,
  masterMaxOffset: null,
  lagMs: null,
  reconnects: 0,
  lastError: null,
};

test("tables are taken while the compared link lives, and not before or after", () => {
  let view = VIEW;
  const refusal = metadataRefusal({ client: { view: () => view } });
  assertEquals(refusal(), "The logs have not been compared yet");
  view = { ...VIEW, state: "TRANSFER" };
  assertEquals(refusal(), null);
  // The same address, perhaps another process.
  view = { ...VIEW, problem: "disconnected", reason: "The link has ended" };
  assertEquals(refusal(), "The link has ended");
  view = { ...VIEW, state: "READY" };
  assertEquals(refusal(), "The logs have not been compared yet");
});
