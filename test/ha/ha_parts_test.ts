import { describe, it } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { FlowMonitor } from "../../src/ha/flow_monitor.ts";
import { HAPeers } from "../../src/ha/ha_peers.ts";
import { LagMeter } from "../../src/ha/lag_meter.ts";
import { TransferWindow } from "../../src/ha/transfer_window.ts";

describe("TransferWindow", () => {
  const MIB = 1_048_576;

  it("falls to one second of a thin link, and no further than it must", () => {
    const window = new TransferWindow(8 * MIB, MIB, 0);
    let nowMs = 0;
    // A slave of Java acks whole bodies; the link carries 6 KiB/s.
    const bodies: number[] = [];
    for (let acks = 0; acks < 50; acks++) {
      while (window.hasRoomFor(window.batchSize)) {
        bodies.push(window.batchSize);
        window.onSent(window.batchSize, nowMs);
      }
      const size = bodies.shift()!;
      nowMs += size / 6.144;
      window.onAcked(size, nowMs);
    }
    assert(window.size <= 6144 * 1.05 && window.size >= 4096, `${window.size}`);
    assertEquals(Math.round(window.ackedByteInSecond! / 1000), 6);
  });

  it("is not lowered by a producer that is idle", () => {
    const window = new TransferWindow(8 * MIB, MIB, 0);
    for (let nowMs = 0; nowMs < 60_000; nowMs += 1000) {
      window.onSent(100, nowMs);
      window.onAcked(100, nowMs + 50);
    }
    assertEquals(window.size, 65_536);
  });

  it("at most doubles with a burst of acks", () => {
    const window = new TransferWindow(8 * MIB, MIB, 0);
    window.onSent(65_536, 0);
    window.hasRoomFor(1);
    for (let times = 0; times < 16; times++) window.onAcked(4096, 10);
    assert(window.size <= 131_072, `${window.size}`);
  });

  it("lets one batch go whatever the bound", () => {
    const window = new TransferWindow(2, MIB, 0);
    assertEquals(window.batchSize, 1);
    assert(window.hasRoomFor(100));
  });
});

describe("FlowMonitor", () => {
  it("counts the last whole second", () => {
    const monitor = new FlowMonitor(Infinity, 0);
    monitor.addByteCountTransferred(100, 10);
    monitor.addByteCountTransferred(50, 990);
    assertEquals(monitor.transferredByteInSecond(999), 0);
    assertEquals(monitor.transferredByteInSecond(1000), 150);
    assertEquals(monitor.transferredByteInSecond(2000), 0);
    assertEquals(monitor.canTransferMaxByteNum(2000), Infinity);
  });

  it("refills by time, never beyond a quarter of a second", () => {
    const monitor = new FlowMonitor(1000, 0);
    assertEquals(monitor.canTransferMaxByteNum(0), 250);
    monitor.addByteCountTransferred(250, 0);
    assertEquals(monitor.canTransferMaxByteNum(0), 0);
    assertEquals(monitor.canTransferMaxByteNum(100), 100);
    assertEquals(monitor.canTransferMaxByteNum(60_000), 250);
  });
});

describe("HAPeers", () => {
  it("lets everyone in without a list", () => {
    assert(new HAPeers("").allows("10.1.2.3"));
    assert(new HAPeers(" ; ").allows("::1"));
  });

  it("knows addresses and blocks of both families", () => {
    const peers = new HAPeers(
      "10.0.0.0/8; 192.168.1.5,172.16.0.0/12;2001:db8::/33;[::1]",
    );
    for (
      const host of [
        "10.255.0.1",
        "192.168.1.5",
        "172.31.255.255",
        "::ffff:10.0.0.1",
        "2001:db8:7fff::1",
        "::1",
      ]
    ) assert(peers.allows(host), host);
    for (
      const host of [
        "11.0.0.1",
        "192.168.1.6",
        "172.32.0.0",
        "2001:db8:8000::1",
        "::2",
        "master",
        "",
      ]
    ) assert(!peers.allows(host), host);
    assert(new HAPeers("0.0.0.0/0").allows("8.8.8.8"));
    assert(!new HAPeers("0.0.0.0/0").allows("::1"));
  });

  it("names what it does not understand, and lets nobody in by it", () => {
    for (
      const bad of ["slave-1", "10.0.0.0/33", "10.0.0.0/", "::/129", "1.2.3/8"]
    ) {
      assertEquals(HAPeers.invalidEntry(`10.0.0.1;${bad}`), bad);
      assert(!new HAPeers(bad).allows("10.0.0.1"));
    }
    assertEquals(HAPeers.invalidEntry("10.0.0.1; ::/0"), undefined);
  });
});

describe("LagMeter", () => {
  it("says since when the log has been longer than the slave's", () => {
    const meter = new LagMeter();
    for (let tick = 0; tick <= 100; tick++) meter.note(tick * 10, tick * 100);
    assertEquals(meter.lagMs(1000, 10_500), 0);
    assertEquals(meter.lagMs(990, 10_500), 500);
    assertEquals(meter.lagMs(0, 10_500), 10_400);
  });

  it("knows a lag in proportion, after however long a time", () => {
    const meter = new LagMeter();
    const nowMs = 3_600_000;
    for (let atMs = 0; atMs <= nowMs; atMs += 100) meter.note(atMs, atMs);
    for (const lagMs of [300, 10_000, 600_000, 1_800_000, 3_500_000]) {
      const found = meter.lagMs(nowMs - lagMs, nowMs);
      assert(found <= lagMs && found > lagMs * 0.8 - 200, `${lagMs}: ${found}`);
    }
  });
});
