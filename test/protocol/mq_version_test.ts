import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { mqVersionDesc } from "../../src/protocol/mq_version.ts";

/** From Java's list; the ends of its runs. */
const KNOWN: Readonly<Record<number, string>> = {
  0: "V3_0_0_SNAPSHOT",
  1: "V3_0_0_ALPHA1",
  14: "V3_0_0_BETA9",
  15: "V3_0_0_FINAL",
  16: "V3_0_1_SNAPSHOT",
  37: "V3_0_11",
  45: "V3_0_15",
  46: "V3_1_0_SNAPSHOT",
  62: "V3_1_8_SNAPSHOT",
  65: "V3_1_9",
  66: "V3_2_0_SNAPSHOT",
  85: "V3_2_9",
  86: "V3_3_1_SNAPSHOT",
  121: "V3_4_9",
  122: "V3_5_1_SNAPSHOT",
  211: "V3_9_9",
  212: "V4_0_0_SNAPSHOT",
  213: "V4_0_0",
  335: "V4_6_1",
  409: "V4_9_8",
  413: "V5_0_0",
  513: "V5_5_0",
  611: "V5_9_9",
  612: "HIGHER_VERSION",
  9_999: "HIGHER_VERSION",
};

test("mqVersionDesc() spells versions as Java's MQVersion", () => {
  for (const [ordinal, name] of Object.entries(KNOWN)) {
    assertEquals(mqVersionDesc(Number(ordinal)), name);
  }
  assertEquals(mqVersionDesc(-1), "V3_0_0_SNAPSHOT");
});
