/** When a message is due, by its properties and by its unit. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  timerDue,
  toTimerMessage,
} from "../../../src/broker/timer/timer_message.ts";
import { timerTimeOf } from "../../../src/store/timer_time.ts";
import { brokerInner } from "../../model/message_fixture.ts";

const NOW = 1_700_000_000_000;
const OPTIONS = { timerWheelEnable: true, timerMaxDelaySec: 259_200 };
const pairs = (properties: Record<string, string | number>) =>
  Object.entries(properties).map(([name, value]) =>
    `${name}\u0001${value}\u0002`
  ).join("");
const due = (properties: Record<string, string | number>) =>
  timerDue(pairs(properties), NOW, OPTIONS);

test("120: a send is due when it says so, and impossible times are refused by name", () => {
  assertEquals(due({ TIMER_DELAY_SEC: 3 }), NOW + 3_000);
  assertEquals(due({ TIMER_DELAY_MS: 3 }), NOW + 3);
  assertEquals(due({ TIMER_DELIVER_MS: NOW + 3 }), NOW + 3);
  assertEquals(due({ TIMER_DELAY_MS: 259_200_000 }), NOW + 259_200_000);
  // Apache's order.
  assertEquals(
    due({ TIMER_DELIVER_MS: NOW + 3, TIMER_DELAY_MS: 5, TIMER_DELAY_SEC: 1 }),
    NOW + 1_000,
  );
  for (const name of ["TIMER_DELAY_SEC", "TIMER_DELAY_MS"]) {
    assertEquals(due({ [name]: 0 }), undefined);
  }
  assertEquals(due({ TIMER_DELIVER_MS: NOW }), undefined);
  assertEquals(due({ TIMER_DELIVER_MS: 5 }), undefined);
  assertEquals(due({ TIMER_DELAY_MS: 5, TIMER_OUT_MS: 5 }), undefined);
  const impossible = [
    "-1",
    "abc",
    "1.5",
    "1e3",
    " 3",
    "9223372036854775807",
    "9007199254740993",
    "-9223372036854775808",
    String(NOW + 259_200_001),
  ];
  for (
    const name of ["TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS"]
  ) {
    for (const value of impossible) {
      const fault = due({ [name]: value });
      assert(typeof fault === "string", `${name}=${value} is ${fault}`);
      assert(fault.includes(`property ${name} is `), fault);
      assert(fault.includes("timerMaxDelaySec=259200"), fault);
    }
  }
  assert(typeof due({ TIMER_DELAY_SEC: 259_201 }) === "string");
});

test("a message's record tells the due time that was asked for", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 259_200_000 }),
    fc.constantFrom("TIMER_DELAY_MS", "TIMER_DELIVER_MS"),
    fc.boolean(),
    (delayMs, name, isRecall) => {
      const asked = name === "TIMER_DELAY_MS" ? delayMs : NOW + delayMs;
      const propertiesText = pairs({
        [name]: asked,
        ...(isRecall ? { TIMER_DEL_UNIQKEY: "T+K" } : {}),
      });
      const message = toTimerMessage(
        brokerInner({ propertiesText }),
        due({ [name]: asked }) as number,
      );
      assert(typeof message !== "string");
      const time = timerTimeOf(message.propertiesText, NOW);
      assertEquals(time, { dueMs: NOW + delayMs, isRecall });
    },
  ));
});

test("what Apache has floored to a second is never early", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 259_200_000 }),
    fc.integer({ min: 0, max: 3 }),
    (delayMs, storedLaterMs) => {
      const dueMs = NOW + delayMs;
      const outMs = dueMs % 1_000 === 0 ? dueMs - 1_000 : dueMs - dueMs % 1_000;
      for (
        const [name, asked] of [
          ["TIMER_DELAY_MS", delayMs],
          ["TIMER_DELIVER_MS", dueMs],
          ["OTHER", 1],
        ] as const
      ) {
        const text = pairs({ [name]: asked, TIMER_OUT_MS: outMs });
        const time = timerTimeOf(text, NOW + storedLaterMs)!;
        assert(time.dueMs >= dueMs, `${name} ${time.dueMs - dueMs}`);
        assert(time.dueMs <= outMs + 1_000);
      }
    },
  ));
});

test("properties that would not fit any more when the message is delivered are refused at once", () => {
  const message = brokerInner({
    propertiesText: `a\u0001${"x".repeat(32_600)}\u0002`,
  });
  assert(typeof toTimerMessage(message, NOW) === "string");
});
