import { test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { DivergedSlaves } from "../../src/ha/diverged_slaves.ts";
import { HAConnection } from "../../src/ha/ha_connection.ts";
import type { HAConnectionEffect } from "../../src/ha/ha_connection_effect.ts";
import { encodeReportHeader } from "../../src/ha/report_header.ts";
import {
  boundsOf,
  bytesOfHex,
  linesOf,
  OPTIONS,
  report,
} from "./ha_fixture.ts";

const KIB = 1024;
const MIB = 1_048_576;

function transfersOf(effects: readonly HAConnectionEffect[]) {
  return effects.filter((it) => it.kind === "transfer");
}

test("HAConnection sends nothing before the first report", () => {
  const it = new HAConnection(OPTIONS, 0);
  const log = boundsOf(5000);
  assertEquals(it.onWritable(log, 1), []);
  assertEquals(it.tick(log, 6_000), []);
  assertEquals(it.view(6_000).state, "READY");
  assertEquals(it.view(6_000).slaveAckOffset, null);
});

test("HAConnection serves a request from exactly its offset", () => {
  const it = new HAConnection(OPTIONS, 0);
  assertEquals(linesOf(report(it, 1234, boundsOf(5000), 1)), [
    "TRANSFER",
    "transfer 1234+3766",
  ]);
  assertEquals(it.isSlave, false);
  assertEquals(linesOf(report(it, 5000, boundsOf(5000), 2)), ["acked 5000"]);
  assertEquals(it.isSlave, true);
  assertEquals(linesOf(it.onWritable(boundsOf(5100), 3)), [
    "transfer 5000+100",
  ]);
  assertEquals(it.onWritable(boundsOf(5100), 3), []);
});

test("HAConnection starts an empty slave at the newest file", () => {
  const log = boundsOf(2 * MIB + 100);
  const it = new HAConnection(OPTIONS, 0);
  assertEquals(linesOf(report(it, 0, log, 1)), [
    "TRANSFER",
    `transfer ${2 * MIB}+100`,
  ]);
  assertEquals(linesOf(report(it, 0, log, 2)), []);
  assertEquals(it.isSlave, false);
  const full = new HAConnection(OPTIONS, 0);
  assertEquals(linesOf(report(full, 0, boundsOf(2 * MIB), 1)), ["TRANSFER"]);
  assertEquals(full.view(1).transferFromWhere, 2 * MIB);
  const both = new HAConnection(OPTIONS, 0);
  assertEquals(linesOf(report(both, 0, boundsOf(0), 1)), [
    "TRANSFER",
    "acked 0",
  ]);
});

test("HAConnection takes a slave that begins at the first byte for an empty one", () => {
  const log = boundsOf(10_000, 4096, 4096);
  const emptyFrom = (offset: number) => {
    const it = new HAConnection(OPTIONS, 0);
    report(it, offset, log, 1);
    return it.emptySlaveFrom;
  };
  // With haBootstrap=min it asks for 4096 and has nothing of what lies before.
  assertEquals([0, 4096, 5000].map(emptyFrom), [8192, 4096, 0]);
});

test("HAConnection never crosses a MappedFile", () => {
  const log = boundsOf(10_000, 0, 4096);
  const it = new HAConnection(OPTIONS, 0);
  assertEquals(linesOf(report(it, 4000, log, 1)), [
    "TRANSFER",
    "transfer 4000+96",
    "transfer 4096+4096",
    "transfer 8192+1808",
  ]);
});

test("HAConnection keeps the bytes in flight and its batches bounded", () => {
  const log = boundsOf(100 * MIB, 0, 1024 * MIB);
  const it = new HAConnection(OPTIONS, 0);
  let acked = 1;
  let nowMs = 0;
  const pending = transfersOf(report(it, 1, log, nowMs));
  assertEquals(pending.length, 4);
  assert(pending.every((transfer) => transfer.size === 16 * KIB));
  let inFlightMax = 0;
  let sizeMax = 0;
  // A link of 100 MB/s with a round trip of 2 ms grows to the bounds.
  while (acked < log.maxOffset) {
    const transfer = pending.shift()!;
    nowMs += transfer.size / 100_000 + (pending.length === 0 ? 2 : 0);
    acked += transfer.size;
    pending.push(...transfersOf(report(it, acked, log, nowMs)));
    inFlightMax = Math.max(inFlightMax, it.view(nowMs).inFlightBytes);
    for (const { size } of pending) sizeMax = Math.max(sizeMax, size);
  }
  assertEquals(sizeMax, MIB);
  assert(inFlightMax > 7 * MIB, `${inFlightMax} is little`);
  assert(inFlightMax <= 8 * MIB, `${inFlightMax} is much`);
});

test("HAConnection takes haTransferBatchSize and haMaxInFlightBytes, also live", () => {
  const log = boundsOf(MIB);
  const small = { ...OPTIONS, haTransferBatchSize: 1000 };
  const it = new HAConnection({ ...small, haMaxInFlightBytes: 2500 }, 0);
  assertEquals(linesOf(report(it, 1, log, 0)), [
    "TRANSFER",
    "transfer 1+625",
    "transfer 626+625",
    "transfer 1251+625",
    "transfer 1876+625",
  ]);
  it.reconfigure({ ...small, haMaxInFlightBytes: 1000 });
  assertEquals(linesOf(report(it, 1876, log, 1)), [
    "acked 1876",
    "transfer 2501+250",
  ]);
  assertEquals(linesOf(report(it, 2501, log, 2)), [
    "acked 2501",
    "transfer 2751+250",
    "transfer 3001+250",
    "transfer 3251+250",
  ]);
});

test("HAConnection closes on an ack beyond its own end, and counts it no more", () => {
  const log = boundsOf(5000);
  const it = new HAConnection(OPTIONS, 0);
  report(it, 5000, log, 1);
  assertEquals(it.isSlave, true);
  assertEquals(linesOf(report(it, 5001, log, 2)), [
    "SHUTDOWN",
    "close ack-beyond",
  ]);
  assertEquals(it.isSlave, false);
  assertEquals(report(it, 5000, log, 3), []);
  assertEquals(it.tick(log, 4), []);
});

test("HAConnection is doubted until its next byte", () => {
  const log = boundsOf(5000);
  const it = new HAConnection(OPTIONS, 0);
  report(it, 5000, log, 1);
  it.doubt();
  assertEquals([it.isSlave, it.isDoubted], [true, true]);
  assertEquals(linesOf(report(it, 5000, log, 2)), ["acked 5000"]);
  assertEquals(it.isDoubted, false);
});

test("HAConnection names a first report beyond its end: the logs differ", () => {
  const it = new HAConnection(OPTIONS, 0);
  const effects = report(it, 6000, boundsOf(5000), 1);
  assertEquals(linesOf(effects), ["SHUTDOWN diverged", "close ack-beyond"]);
  assertStringIncludes(it.view(1).reason!, "6000");
});

test("HAConnection does not feed a slave that was longer once", () => {
  const slaves = new DivergedSlaves();
  slaves.add("10.0.0.2", 6000, 0);
  const is = (offset: number) => slaves.has("10.0.0.2", offset);
  const log = boundsOf(7000);
  const same = new HAConnection(OPTIONS, 0, is);
  assertEquals(linesOf(report(same, 6000, log, 1)), [
    "SHUTDOWN diverged",
    "close ack-beyond",
  ]);
  assertEquals(same.isSlave, false);
  const other = new HAConnection(OPTIONS, 0, is);
  assertEquals(linesOf(report(other, 6100, log, 1)), [
    "TRANSFER",
    "transfer 6100+900",
  ]);
  assertEquals(slaves.has("10.0.0.3", 6000), false);
  for (let offset = 0; offset < 64; offset++) slaves.add("10.0.0.9", offset, 0);
  assertEquals(is(6000), false);
});

test("HAConnection closes on reports outside of what it sent", () => {
  const log = boundsOf(100_000);
  for (
    const [why, request, ...acks] of [
      ["never sent", 1000, 99_000],
      ["falls", 1000, 20_000, 19_999],
      ["below the request", 1000, 999],
      ["below the boundary", 0, 0, -1],
    ] as const
  ) {
    const it = new HAConnection(
      { ...OPTIONS, haMaxInFlightBytes: 32 * KIB },
      0,
    );
    const bounds = request === 0 ? boundsOf(MIB + 1000) : log;
    report(it, request, bounds, 1);
    let last: string[] = [];
    for (const ack of acks) {
      last = linesOf(report(it, ack < 0 ? 77 : ack, bounds, 2));
    }
    assertEquals(last, ["SHUTDOWN", "close ack-beyond"], why);
    assertEquals(it.isSlave, false);
  }
});

test("HAConnection closes on junk", () => {
  for (
    const junk of [
      "7fffffffffffffff",
      "ffffffffffffffff",
      // A probe: GET / HTTP/1.1
      "474554202f20485454502f312e310d0a",
    ]
  ) {
    const it = new HAConnection(OPTIONS, 0);
    const effects = it.onBytes(bytesOfHex(junk), boundsOf(5000), 1);
    assertEquals(linesOf(effects), ["SHUTDOWN", "close protocol"]);
    assertEquals(it.isSlave, false);
  }
});

test("HAConnection transfers nothing below its own begin, and says why", () => {
  const it = new HAConnection(OPTIONS, 0);
  const log = boundsOf(9 * MIB, 4 * MIB);
  assertEquals(linesOf(report(it, 1000, log, 1)), ["SUSPEND needs-reseed"]);
  assertEquals(it.onWritable(log, 2), []);
  assertEquals(linesOf(it.tick(log, 5_000)), ["heartbeat 1000"]);
  assertEquals(it.neededFrom, -1);
  assertStringIncludes(it.view(2).reason!, `begins at ${4 * MIB}`);
});

test("HAConnection is suspended when the log is cleaned under it", () => {
  const it = new HAConnection(
    { ...OPTIONS, haMaxInFlightBytes: 4000 },
    0,
  );
  report(it, 1000, boundsOf(9 * MIB), 1);
  assertEquals(it.neededFrom, 1000);
  const cleaned = boundsOf(9 * MIB, MIB);
  assertEquals(linesOf(it.onWritable(cleaned, 2)), ["SUSPEND needs-reseed"]);
  assertEquals(linesOf(report(it, 2000, cleaned, 3)), []);
  assertEquals(it.isSlave, false);
});

test("HAConnection beats on its own clock, idle or busy", () => {
  let log = boundsOf(5000);
  const it = new HAConnection(OPTIONS, 0);
  report(it, 5000, log, 0);
  const beats: number[] = [];
  for (let nowMs = 100; nowMs <= 60_000; nowMs += 100) {
    if (nowMs > 30_000) {
      log = boundsOf(log.maxOffset + 50);
      it.onWritable(log, nowMs);
      report(it, log.maxOffset, log, nowMs);
    } else if (nowMs % 5_000 === 0) report(it, 5000, log, nowMs);
    for (const effect of it.tick(log, nowMs)) {
      assertEquals(effect.kind, "heartbeat");
      beats.push(nowMs);
    }
  }
  // The first one at once: it tells the slave that a master is here.
  assertEquals(beats, Array.from({ length: 12 }, (_, n) => 100 + n * 5_000));
});

test("HAConnection closes a silent link, and any byte is life", () => {
  const log = boundsOf(5000);
  const silent = new HAConnection(OPTIONS, 0);
  assertEquals(silent.tick(log, 20_000), []);
  assertEquals(linesOf(silent.tick(log, 20_001)), [
    "SHUTDOWN",
    "close silent",
  ]);
  const slow = new HAConnection(OPTIONS, 0);
  const bytes = encodeReportHeader({ slaveMaxOffset: 5000 });
  for (let index = 0; index < 8; index++) {
    const nowMs = (index + 1) * 19_000;
    slow.onBytes(bytes.subarray(index, index + 1), log, nowMs);
    assertEquals(linesOf(slow.tick(log, nowMs)).includes("SHUTDOWN"), false);
  }
  assertEquals(slow.isSlave, true);
});

test("HAConnection does the same whatever the cuts of the reports", () => {
  const values = [1000, 3000, 5000, 5000];
  const stream = Uint8Array.from(
    values.flatMap((it) => [...encodeReportHeader({ slaveMaxOffset: it })]),
  );
  for (let cut = 0; cut <= stream.length; cut++) {
    const it = new HAConnection(OPTIONS, 0);
    const log = boundsOf(5000);
    const effects = [
      ...report(it, 1000, log, 0),
      ...it.onBytes(stream.subarray(0, cut), log, 1),
      ...it.onBytes(stream.subarray(cut), log, 2),
    ];
    assertEquals(
      linesOf(effects).filter((line) => !line.startsWith("transfer")),
      // Acks that come together count as the last one.
      cut >= 16 && cut < 24
        ? ["TRANSFER", "acked 3000", "acked 5000"]
        : ["TRANSFER", "acked 5000"],
      `cut at ${cut}`,
    );
    assertEquals(it.slaveAckOffset, 5000);
    assertEquals(it.view(2).inFlightBytes, 0);
  }
});

test("HAConnection stays within its cap, changed while it runs", () => {
  const log = boundsOf(100 * MIB, 0, 1024 * MIB);
  const capped = {
    ...OPTIONS,
    haFlowControlEnable: true,
    maxHaTransferByteInSecond: MIB,
  };
  const it = new HAConnection(capped, 0);
  let sent = 0;
  const count = (effects: readonly HAConnectionEffect[]) => {
    for (const { size } of transfersOf(effects)) sent += size;
  };
  count(report(it, 1, log, 0));
  const perSecond: number[] = [];
  for (let nowMs = 100; nowMs <= 10_000; nowMs += 100) {
    if (nowMs === 5_100) {
      it.reconfigure({ ...capped, maxHaTransferByteInSecond: 4 * MIB });
    }
    const before = sent;
    count(report(it, 1 + sent, log, nowMs));
    count(it.tick(log, nowMs));
    const second = Math.ceil(nowMs / 1000) - 1;
    perSecond[second] = (perSecond[second] ?? 0) + sent - before;
  }
  for (let second = 1; second < 10; second++) {
    const cap = second < 5 ? MIB : 4 * MIB;
    const ratio = perSecond[second]! / cap;
    // The second of the change holds one refill of the larger bucket.
    const most = second === 5 ? 1.3 : 1.1;
    assert(
      ratio > 0.9 && ratio < most,
      `second ${second}: ${ratio} of the cap`,
    );
  }
});
