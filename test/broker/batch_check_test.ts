import { test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { batchError } from "../../src/broker/batch_check.ts";
import {
  decodeMessageBatch,
  encodeMessageBatch,
  type MessageBatchEntry,
} from "../../src/model/message_batch.ts";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 })
  .filter((it) => !it.includes("\u0001") && !it.includes("\u0002"));
const entries = fc.array(
  fc.record<MessageBatchEntry>({
    flag: fc.integer(),
    body: fc.uint8Array({ maxLength: 40 }),
    propertiesText: fc.array(fc.tuple(text, text), { maxLength: 3 }).map((
      pairs,
    ) => pairs.map(([name, value]) => `${name}\u0001${value}\u0002`).join("")),
  }, { noNullPrototype: true }),
  { minLength: 1, maxLength: 4 },
);

/** What is read of a body; undefined when it cannot be. */
function decoded(body: Uint8Array): MessageBatchEntry[] | undefined {
  try {
    return decodeMessageBatch(body);
  } catch {
    return undefined;
  }
}

test("batchError() takes what the store can read, and nothing else, however it is cut or changed", () => {
  fc.assert(
    fc.property(entries, fc.nat(), fc.nat(255), (all, at, byte) => {
      const body = encodeMessageBatch(all);
      assertEquals(batchError(body), undefined);
      const plain = decodeMessageBatch(body)
        .map((it) => ({ ...it, body: it.body.slice() }));
      assertEquals(plain, all);
      const position = at % body.length;
      const cut = body.subarray(0, position);
      const changed = body.slice();
      changed[position] = byte;
      for (const other of [cut, changed]) {
        const count = decoded(other)?.length ?? 0;
        assertEquals(batchError(other) === undefined, count > 0);
      }
    }),
  );
});

test("batchError() names the entry that carries a delay, a timer or a transaction", () => {
  const names = fc.constantFrom(
    "DELAY",
    "TRAN_MSG",
    "TIMER_DELAY_MS",
    "TIMER_DELAY_SEC",
    "TIMER_DELIVER_MS",
  );
  fc.assert(
    fc.property(entries, names, fc.nat(), (all, name, at) => {
      const index = at % all.length;
      const bad = all.map((it, place) =>
        place === index
          ? {
            ...it,
            propertiesText: `${it.propertiesText}${name}\u00013\u0002`,
          }
          : it
      );
      const error = batchError(encodeMessageBatch(bad))!;
      assert(error.startsWith(`batch entry ${index} carries`), error);
      assert(error.includes(name), error);
    }),
  );
});
