import { test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { HAClient, type HAClientEffect } from "../../src/ha/ha_client.ts";
import { encodeTransferHeader } from "../../src/ha/transfer_header.ts";
import { SimRandom } from "../sim/sim_random.ts";
import { bytesOfHex, linesOf, OPTIONS, startOf } from "./ha_fixture.ts";

const MIB = 1_048_576;

function transfer(phyOffset: number, body: Uint8Array): Uint8Array {
  const header = encodeTransferHeader({ phyOffset, bodySize: body.length });
  return Uint8Array.from([...header, ...body]);
}

/** A client that has asked. */
function asking(maxPhyOffset: number): HAClient {
  const client = new HAClient(OPTIONS, startOf(maxPhyOffset), 0);
  client.tick(0);
  return client;
}

test("HAClient asks at once, with its end", () => {
  const client = new HAClient(OPTIONS, startOf(5000), 0);
  assertEquals(linesOf(client.tick(0)), ["report 5000"]);
  assertEquals(client.tick(1), []);
  const empty = new HAClient(OPTIONS, startOf(0), 0);
  assertEquals(linesOf(empty.tick(0)), ["report 0"]);
});

test("HAClient is in HANDSHAKE until a header of a master has come", () => {
  const client = asking(5000);
  assertEquals(client.tick(5_000).map(({ kind }) => kind), ["report"]);
  assertEquals(client.view(5_000).state, "HANDSHAKE");
  const header = transfer(5000, new Uint8Array(0));
  assertEquals(client.onBytes(header.subarray(0, 11), 5_001), []);
  assertEquals(client.view(5_001).state, "HANDSHAKE");
  assertEquals(linesOf(client.onBytes(header.subarray(11), 5_002)), [
    "TRANSFER",
  ]);
  assertEquals(client.onBytes(header, 5_003), []);
  const [, close] = asking(0).onBytes(
    new TextEncoder().encode("HTTP/1.1 400"),
    1,
  );
  assertEquals(close?.kind === "close" && close.isForeign, true);
  const [, other] = asking(5000).onBytes(transfer(9, new Uint8Array(0)), 1);
  assertEquals(other?.kind === "close" && other.isForeign, false);
});

test("HAClient reports only what is appended, once per growth", () => {
  const client = asking(5000);
  const effects = client.onBytes(transfer(5000, new Uint8Array(100)), 1);
  assertEquals(linesOf(effects), ["TRANSFER", "append 5000+100"]);
  assertEquals(linesOf(client.onAppended(5100, 0, 2)), ["report 5100"]);
  assertEquals(client.onAppended(5100, 0, 3), []);
});

test("HAClient reports a body once it is whole, its parts every 100 ms", () => {
  const client = asking(5000);
  const body = transfer(5000, new Uint8Array(3000));
  client.onBytes(body.subarray(0, 1012), 1);
  assertEquals(client.onAppended(6000, 0, 1), []);
  assertEquals(client.tick(99), []);
  assertEquals(linesOf(client.tick(100)), ["report 6000"]);
  client.onBytes(body.subarray(1012, 2012), 150);
  assertEquals(client.onAppended(7000, 0, 150), []);
  client.onBytes(body.subarray(2012), 151);
  assertEquals(linesOf(client.onAppended(8000, 0, 151)), ["report 8000"]);
  assertEquals(client.tick(300), []);
});

test("HAClient appends the same bytes whatever the cuts", () => {
  const random = new SimRandom(3);
  const bodies = [100, 0, 1, 300].map((size) => random.bytes(size));
  const expected = Uint8Array.from(bodies.flatMap((it) => [...it]));
  let end = 5000;
  const parts: number[] = [];
  for (const body of bodies) {
    parts.push(...transfer(end, body));
    end += body.length;
  }
  const stream = Uint8Array.from(parts);
  for (let first = 0; first <= stream.length; first++) {
    const client = asking(5000);
    const log: number[] = [];
    const second = first + random.nextInt(stream.length - first + 1);
    const cuts = [0, first, second, stream.length];
    for (let index = 1; index < cuts.length; index++) {
      const chunk = stream.slice(cuts[index - 1]!, cuts[index]!);
      for (const effect of client.onBytes(chunk, index)) {
        if (effect.kind === "state" && effect.state === "TRANSFER") continue;
        if (effect.kind !== "append") throw new Error(effect.kind);
        assertEquals(effect.phyOffset, 5000 + log.length);
        log.push(...effect.body);
      }
      client.onAppended(5000 + log.length, 0, index);
    }
    assertEquals(Uint8Array.from(log), expected);
    assertEquals(client.view(9).reportedOffset, end);
  }
});

test("HAClient never appends elsewhere than at its end", () => {
  for (const offset of [4999, 5001, 0, 6 * MIB]) {
    for (const size of [0, 10]) {
      const client = asking(5000);
      const effects = client.onBytes(
        transfer(offset, new Uint8Array(size)),
        1,
      );
      assertEquals(linesOf(effects), ["SHUTDOWN", "close"]);
      assertEquals(client.onBytes(transfer(5000, new Uint8Array(1)), 2), []);
    }
  }
});

test("HAClient with an empty log takes a file boundary only", () => {
  const client = asking(0);
  const beat = client.onBytes(transfer(3 * MIB, new Uint8Array(0)), 1);
  assertEquals(linesOf(beat), ["TRANSFER"]);
  const effects = client.onBytes(transfer(3 * MIB, new Uint8Array(10)), 2);
  assertEquals(linesOf(effects), [`append ${3 * MIB}+10`]);
  assertEquals(linesOf(client.onAppended(3 * MIB + 10, 0, 3)), [
    `report ${3 * MIB + 10}`,
  ]);
  const lost = asking(0);
  lost.onBytes(transfer(3 * MIB, new Uint8Array(0)), 1);
  const later = lost.onBytes(transfer(3 * MIB + 10, new Uint8Array(0)), 2);
  assertEquals(linesOf(later), ["SHUTDOWN", "close"]);
  const other = asking(0);
  const refused = other.onBytes(transfer(3 * MIB + 4096, new Uint8Array(1)), 1);
  assertEquals(linesOf(refused), ["SHUTDOWN", "close"]);
  assertStringIncludes(other.view(1).reason!, "mappedFileSizeCommitLog");
});

test("HAClient gets everything with request 1, and puts the first byte back", () => {
  const start = startOf(0, { requestOffset: 1 });
  const client = new HAClient(OPTIONS, start, 0);
  assertEquals(linesOf(client.tick(0)), ["report 1"]);
  const effects = client.onBytes(transfer(1, Uint8Array.of(0, 0, 99)), 1);
  assertEquals(linesOf(effects), ["TRANSFER", "append 0+1", "append 1+3"]);
  assertEquals((effects[1] as { body: Uint8Array }).body, Uint8Array.of(0));
  assertEquals(linesOf(client.onAppended(4, 0, 2)), ["report 4"]);
  const other = new HAClient(OPTIONS, startOf(0, { requestOffset: MIB }), 0);
  other.tick(0);
  const elsewhere = other.onBytes(transfer(2 * MIB, Uint8Array.of(0)), 1);
  assertEquals(linesOf(elsewhere), ["SHUTDOWN", "close"]);
});

test("HAClient refuses sizes that no master sends", () => {
  for (
    const hex of [
      "0000000000001388ffffffff",
      "00000000000013887fffffff",
      "000000000000138801000001",
      "ffffffffffffffff00000000",
    ]
  ) {
    const client = asking(5000);
    const effects = client.onBytes(bytesOfHex(hex), 1);
    assertEquals(linesOf(effects), ["SHUTDOWN", "close"]);
  }
});

test("HAClient closes on a master that talks before it is asked", () => {
  const client = new HAClient(OPTIONS, startOf(5000), 0);
  const effects = client.onBytes(transfer(5000, new Uint8Array(0)), 1);
  assertEquals(linesOf(effects), ["SHUTDOWN", "close"]);
});

test("HAClient with haAckAfterFlush reports what is flushed", () => {
  const options = { ...OPTIONS, haAckAfterFlush: true };
  const start = startOf(5000, { flushedOffset: 4000 });
  const client = new HAClient(options, start, 0);
  assertEquals(client.tick(0), []);
  assertEquals(linesOf(client.onAppended(5000, 5000, 1)), [
    "report 5000",
  ]);
  client.onBytes(transfer(5000, new Uint8Array(100)), 2);
  assertEquals(client.onAppended(5100, 5000, 2), []);
  assertEquals(linesOf(client.onAppended(5100, 5060, 3)), ["report 5060"]);
  assertEquals(linesOf(client.onAppended(5100, 5100, 4)), ["report 5100"]);
});

test("HAClient reports on its own clock, whatever it reads", () => {
  const client = asking(5000);
  const reports: number[] = [];
  for (let nowMs = 100; nowMs <= 300_000; nowMs += 100) {
    // A master that beats every second must not push our own beat back.
    if (nowMs % 1_000 === 0) {
      client.onBytes(transfer(5000, new Uint8Array(0)), nowMs);
    }
    for (const effect of client.tick(nowMs)) {
      assertEquals(effect, { kind: "report", slaveMaxOffset: 5000 });
      reports.push(nowMs);
    }
  }
  assertEquals(reports.length, 60);
});

test("HAClient closes on silence, and any byte is life", () => {
  const silent = asking(5000);
  const isOpen = (effects: readonly HAClientEffect[]) =>
    !linesOf(effects).includes("close");
  assertEquals(isOpen(silent.tick(20_000)), true);
  assertEquals(isOpen(silent.tick(20_001)), false);
  const slow = asking(5000);
  const bytes = transfer(5000, new Uint8Array(3));
  for (let index = 0; index < bytes.length; index++) {
    const nowMs = (index + 1) * 19_000;
    slow.onBytes(bytes.subarray(index, index + 1), nowMs);
    assertEquals(isOpen(slow.tick(nowMs)), true);
  }
});

test("HAClient takes nothing more after a failed append", () => {
  const client = asking(5000);
  client.onBytes(transfer(5000, new Uint8Array(3)), 1);
  const effects = client.onAppendFailed("The disk is full");
  assertEquals(linesOf(effects), ["SHUTDOWN", "close"]);
  assertEquals(client.onAppended(5003, 0, 2), []);
  assertEquals(client.view(2).reason, "The disk is full");
});
