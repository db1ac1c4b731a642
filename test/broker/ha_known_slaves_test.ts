import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { HAKnownSlaves } from "../../src/broker/ha_known_slaves.ts";
import { FenceSite, OWN, PEER, roleOf } from "./ha_fence_site.ts";

const [OLD, NEW, OTHER] = ["10.0.0.6:1", "10.0.0.7:1", "10.0.0.8:1"];

function answer(address: string, brokerId = 1, changes = {}) {
  const brokerName = "broker-a";
  return { address, brokerId, brokerName, role: "SLAVE", ...changes };
}

/** A slave that answered from its old address at 100, and is silent since. */
function silentSince(): HAKnownSlaves {
  const slaves = new HAKnownSlaves("broker-a");
  assert(slaves.add(OLD, 10));
  assert(!slaves.add(OLD, 20));
  slaves.onLook({ startedMs: 100, peers: [answer(OLD)], silent: [] });
  return slaves;
}

const look = (peers: ReturnType<typeof answer>[], silent: string[]) => ({
  startedMs: 300,
  peers,
  silent,
});

test("HAKnownSlaves forgets the address from which a slave has moved", () => {
  const slaves = silentSince();
  slaves.add(NEW, 200);
  assertEquals(slaves.onLook(look([answer(NEW)], [OLD])), [
    { from: OLD, to: NEW, brokerId: 1 },
  ]);
  assertEquals([slaves.has(OLD), slaves.has(NEW)], [false, true]);
  // It moves on, and back.
  slaves.add(OLD, 400);
  const back = { startedMs: 500, peers: [answer(OLD)], silent: [NEW] };
  assertEquals(slaves.onLook(back), [{ from: NEW, to: OLD, brokerId: 1 }]);
});

test("HAKnownSlaves keeps a slave that is merely silent, or that another one is not", () => {
  const cases: [string, ReturnType<typeof answer>[], string[]][] = [
    ["nobody else", [], [OLD]],
    ["another id", [answer(NEW, 2)], [OLD]],
    ["another pair", [answer(NEW, 1, { brokerName: "broker-b" })], [OLD]],
    ["a master", [answer(NEW, 1, { role: "ASYNC_MASTER" })], [OLD]],
    ["one that does not follow", [answer(OTHER)], [OLD]],
    ["one that was here before it fell silent", [answer("10.0.0.9:1")], [OLD]],
    ["refuses: it lives", [answer(NEW)], []],
    ["both answer", [answer(NEW), answer(OLD)], []],
    ["the new one is silent, too", [], [OLD, NEW]],
  ];
  for (const [why, peers, silent] of cases) {
    const slaves = silentSince();
    slaves.add("10.0.0.9:1", 50);
    slaves.add(NEW, 200);
    assertEquals(slaves.onLook(look(peers, silent)), [], why);
    assert(slaves.has(OLD), why);
  }
});

test("HAKnownSlaves takes two of one id that were there at one time for two", () => {
  const slaves = silentSince();
  slaves.add(NEW, 200);
  slaves.onLook(look([answer(OLD), answer(NEW)], []));
  for (const [one, other] of [[OLD, NEW], [NEW, OLD]] as const) {
    const later = { startedMs: 900, peers: [answer(one)], silent: [other] };
    assertEquals(slaves.onLook(later), []);
  }
  assert(slaves.has(OLD) && slaves.has(NEW));
});

test("HAKnownSlaves keeps a slave that never said which id it has", () => {
  const slaves = new HAKnownSlaves("broker-a");
  slaves.add(OLD, 10);
  slaves.add(NEW, 200);
  assertEquals(slaves.onLook(look([answer(NEW)], [OLD])), []);
  slaves.retain([NEW]);
  assertEquals([slaves.has(OLD), slaves.has(NEW)], [false, true]);
});

test("HAFence tells others of a slave at its new address, not at its former one", async () => {
  const site = new FenceSite();
  const slave = roleOf({ role: "SLAVE", brokerId: 1, epoch: 0 });
  await site.start();
  site.fence.rememberSlave(OWN);
  site.fence.rememberSlave(PEER);
  site.roles.set(PEER, slave);
  await site.after(6_000);
  site.roles.delete(PEER);
  // Silence alone changes nothing.
  await site.after(60_000);
  assertEquals(site.fence.slaveAddresses, [PEER]);
  site.roles.set(NEW, slave);
  site.fence.rememberSlave(NEW);
  // Soon: its master may be lost in a moment.
  await site.after(1_000);
  assertEquals(site.fence.slaveAddresses, [NEW]);
  // Whether it was promoted there is asked all the same.
  assertEquals(site.fence.peerAddresses, [PEER, NEW]);
  assertEquals(site.logger.lines.filter((it) => it.includes("moved")), [
    `info The slave of brokerId=1 has moved from ${PEER} to ${NEW}`,
  ]);
});
