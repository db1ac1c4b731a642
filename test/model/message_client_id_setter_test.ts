import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { MessageClientIDSetter } from "../../src/model/message_client_id_setter.ts";

test("MessageClientIDSetter.createUniqID() lays out address, pid, chance, time and counter", () => {
  const ids = new MessageClientIDSetter(
    Uint8Array.of(10, 0, 0, 255),
    0x1_2345,
    { nextInt: () => 0xab },
  );
  const monthStartMs = new Date(2026, 10, 1).getTime();
  assertEquals(
    ids.createUniqID(monthStartMs + 0x1234),
    "0A0000FF" + "2345" + "00AB00AB" + "00001234" + "00AC",
  );
  assertEquals(
    ids.createUniqID(monthStartMs + 0x1235).slice(-12),
    "0000123500AD",
  );
  // The next month begins at 0 again; a clock set back does no harm.
  const nextMonthMs = new Date(2026, 11, 1).getTime();
  assertEquals(ids.createUniqID(nextMonthMs).slice(-12), "0000000000AE");
  assertEquals(ids.createUniqID(monthStartMs).slice(-12), "0000000000AF");
});

test("MessageClientIDSetter.createUniqID() repeats nothing within one millisecond", () => {
  const ids = new MessageClientIDSetter(new Uint8Array(16), 1, {
    nextInt: (bound) => bound - 1,
  });
  const made = new Set<string>();
  for (let index = 0; index < 10_000; index++) {
    made.add(ids.createUniqID(1_790_000_000_000));
  }
  assertEquals(made.size, 10_000);
  assert([...made].every((it) => it.length === 56));
});
