import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import fc from "fast-check";
import { TransactionTable } from "../../../src/broker/transaction/transaction_table.ts";

/** What happens to the half queue; `pick` chooses among what is open. */
type Step = {
  kind: "send" | "end" | "copy" | "giveUp" | "pass";
  pick: number;
};

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom("send", "send", "end", "copy", "giveUp", "pass"),
    pick: fc.nat(),
  }) as fc.Arbitrary<Step>,
  { maxLength: 120 },
);

test("TransactionTable passes nothing open, and keeps the op messages that it needs [fast-check]", () => {
  fc.assert(fc.property(steps, (all) => {
    const table = new TransactionTable(0, 0);
    /** By queue offset; what is open has its latest copy here. */
    const originals: number[] = [];
    const open = new Map<number, number>();
    const ops: number[] = [];
    for (const { kind, pick } of all) {
      const original = [...open.keys()][pick % Math.max(1, open.size)];
      if (kind === "send") {
        open.set(originals.length, originals.length);
        originals.push(originals.length);
      } else if (kind === "pass") {
        table.advance();
      } else if (original !== undefined) {
        if (kind === "copy") {
          table.onCopy(original, originals.length);
          open.set(original, originals.length);
          originals.push(original);
          continue;
        }
        open.delete(original);
        table.onOp(ops.length, [original], kind === "giveUp");
        ops.push(original);
        assertEquals(table.isEnded(original), kind === "end");
      }
      const first = Math.min(originals.length, ...open.values());
      assert(table.halfOffset <= first, `${table.halfOffset} > ${first}`);
      originals.forEach((it, offset) => {
        if (offset < table.halfOffset) return;
        assertEquals(table.isSettled(offset), open.get(it) !== offset);
      });
    }
    table.advance();
    const first = Math.min(originals.length, ...open.values());
    assertEquals(table.halfOffset, first);
    // Read again from the stored offsets, both queues say the same.
    const again = new TransactionTable(table.halfOffset, table.opOffset);
    originals.forEach((it, offset) => {
      if (offset >= first && it !== offset) again.onCopy(it, offset);
    });
    ops.forEach((it, at) => {
      if (at >= table.opOffset) again.onOp(at, [it]);
    });
    for (let offset = first; offset < originals.length; offset++) {
      assertEquals(again.isSettled(offset), table.isSettled(offset));
    }
  }));
});

test("TransactionTable notes op messages out of order, and reads what it has missed", () => {
  const table = new TransactionTable(0, 0);
  table.onOp(2, [1]);
  assertEquals([table.nextOpOffset, table.opOffset], [0, 0]);
  table.onOp(0, [0]);
  table.onOp(1, []);
  table.onOp(2, [1]);
  assertEquals([table.halfOffset, table.nextOpOffset, table.opOffset], [
    2,
    3,
    3,
  ]);
  table.skipOpsTo(9);
  assertEquals(table.opOffset, 9);
});
