import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import {
  FakeFile,
  FenceSite,
  NAMESRV,
  OWN,
  PEER,
  roleOf,
  settle,
} from "./ha_fence_site.ts";

test("HAFence is open at once where nobody is to be asked, and for a slave", async () => {
  const alone = new FenceSite();
  void alone.fence.start();
  assertEquals([alone.fence.state, alone.fence.refusal()], ["open", null]);
  assertEquals(alone.asked, []);
  const slave = new FenceSite();
  slave.isMaster = false;
  slave.namesrvAddrs = [NAMESRV];
  slave.followedMaster = PEER;
  void slave.fence.start();
  assertEquals(await slave.after(10_000), "open");
  assertEquals(slave.asked, []);
  // Whom a slave follows is whom it asks once it is a master.
  assertEquals(slave.peers.peers, [PEER]);
});

test("HAFence refuses until the answers are in", async () => {
  const site = new FenceSite();
  site.peers.remember(PEER);
  site.roles.set(PEER, roleOf({ role: "SLAVE", brokerId: 1, epoch: 0 }));
  let isStarted = false;
  site.fence.start().then(() => {
    isStarted = true;
  });
  assertEquals(site.fence.state, "asking");
  assert(site.fence.refusal()!.includes("asks first"));
  await settle();
  assertEquals([isStarted, site.fence.state], [true, "open"]);
  assertEquals(site.fence.unaskedReason, null);
});

test("HAFence does not keep whoever was promoted just now waiting, but looks all the same", async () => {
  const site = new FenceSite();
  site.peers.remember(PEER);
  void site.fence.start(true);
  assertEquals([site.fence.state, site.fence.refusal()], ["open", null]);
  assertEquals(site.asked, [`31002 ${PEER}`]);
  site.roles.set(PEER, roleOf({ epoch: 9 }));
  assertEquals(await site.after(6_000), "fenced");
});

test("HAFence is fenced by a promoted peer, says by whom, and stays so while that one is away", async () => {
  const site = new FenceSite();
  site.peers.remember(PEER);
  site.roles.set(PEER, roleOf({ epoch: 1 }));
  assertEquals(await site.start(), "fenced");
  const reason = site.fence.fencedReason!;
  assertEquals(site.fence.refusal(), reason);
  assertEquals(site.fencedWith, reason);
  for (const part of [PEER, "epoch 1", "epoch 0", "pocketmq ha demote"]) {
    assert(reason.includes(part), reason);
  }
  site.roles.delete(PEER);
  assertEquals(await site.after(60_000), "fenced");
  assertEquals(site.logger.lines.length, 1);
  // Also after a start at which nobody answers.
  await site.fence.stop();
  const again = new FenceSite(0, site.file);
  assertEquals(await again.start(), "fenced");
  assertEquals(again.fence.highestEpoch, 1);
  // A promotion of this one, with the epoch after that, opens it.
  const promoted = new FenceSite(2, site.file);
  promoted.roles.set(PEER, roleOf({ epoch: 1 }));
  assertEquals(await promoted.start(), "open");
});

test("HAFence takes no lower epoch, no slave of an equal one, and no other name, for a rival", async () => {
  for (
    const role of [
      roleOf({ epoch: 3, role: "SLAVE", brokerId: 1 }),
      roleOf({ epoch: 2 }),
      roleOf({ epoch: 9, brokerName: "broker-b" }),
    ]
  ) {
    const site = new FenceSite(3);
    site.peers.remember(PEER);
    site.roles.set(PEER, role);
    assertEquals(await site.start(), "open");
    assertEquals(
      site.peers.peers.length,
      role.brokerName === "broker-a" ? 1 : 0,
    );
  }
});

test("HAFence leaves the place to one of two masters of an equal epoch", async () => {
  const [smaller, larger] = ["10.0.0.4:10912", "10.0.0.6:10912"];
  const cases = [
    // The other one's end when it was promoted, its address, and whether it keeps the place.
    [1_001, larger, true],
    [1_000, smaller, true],
    [1_000, larger, false],
    [999, smaller, false],
  ] as const;
  for (const [promotedAtOffset, haAddress, isBeaten] of cases) {
    const site = new FenceSite(3, new FakeFile(), 1_000);
    site.peers.remember(PEER);
    void site.fence.start(true);
    assertEquals(site.fence.state, "open");
    site.roles.set(PEER, roleOf({ epoch: 3, promotedAtOffset, haAddress }));
    const state = isBeaten ? "fenced" : "open";
    assertEquals(await site.after(6_000), state, `${promotedAtOffset}`);
    if (!isBeaten) continue;
    const reason = `Broker ${PEER} was promoted to master of ` +
      "brokerName=broker-a with epoch 3 as this broker was, and keeps the place: ";
    assert(site.fencedWith!.startsWith(reason), site.fencedWith!);
    // Also after a start, while the other one is away.
    const again = new FenceSite(3, site.file, 1_000);
    assertEquals(await again.start(), "fenced");
  }
});

test("HAFence lets two masters that nobody promoted be", async () => {
  const site = new FenceSite(0);
  site.peers.remember(PEER);
  const role = { epoch: 0, promotedAtOffset: 0, haAddress: "10.0.0.4:10912" };
  site.roles.set(PEER, roleOf(role));
  assertEquals(await site.start(), "open");
});

test("HAFence is fenced by a slave that knows of a promotion", async () => {
  const site = new FenceSite(1);
  site.peers.remember(PEER);
  site.roles.set(PEER, roleOf({ role: "SLAVE", brokerId: 1, epoch: 2 }));
  assertEquals(await site.start(), "fenced");
  assert(site.fence.fencedReason!.includes("knows of a promotion"));
});

test("HAFence finds its rival through a name server, a 4.x one too", async () => {
  for (const is4x of [false, true]) {
    const site = new FenceSite();
    site.is4x = is4x;
    site.namesrvAddrs = [NAMESRV];
    site.members.set(0, PEER);
    site.roles.set(PEER, roleOf());
    assertEquals(await site.start(), "fenced");
    assertEquals(site.peers.peers, [PEER]);
  }
});

test("HAFence believes the epoch that a name server knows of a master out of reach", async () => {
  const site = new FenceSite();
  site.namesrvAddrs = [NAMESRV];
  site.members.set(0, PEER);
  site.versions.set(PEER, 4);
  assertEquals(await site.start(), "fenced");
  assert(site.fence.fencedReason!.includes("epoch 4"));
  const count = site.asked.filter((it) => it.startsWith("322")).length;
  // The question is a sign of life of the one asked about: no more of it.
  await site.after(120_000);
  assertEquals(site.asked.filter((it) => it.startsWith("322")).length, count);
});

test("HAFence with a 4.x name server says that a master out of reach is unknown", async () => {
  const site = new FenceSite();
  site.is4x = true;
  site.namesrvAddrs = [NAMESRV];
  site.members.set(0, PEER);
  assertEquals(await site.start(), "open");
  const reason = site.fence.unaskedReason!;
  assert(reason.includes(`shows ${PEER} as the master`));
  // Said once, and true as long as that lasts.
  await site.after(90_000);
  assertEquals(site.fence.unaskedReason, reason);
  assertEquals(site.logger.lines.length, 1);
  // Our own former registration is no rival.
  site.members.set(0, OWN);
  await site.after(5_000);
  assertEquals(site.fence.unaskedReason, null);
});

test("HAFence waits 2 s for those that do not answer, then serves and says so", async () => {
  const site = new FenceSite();
  site.namesrvAddrs = [NAMESRV];
  site.isNamesrvSilent = true;
  site.peers.remember(PEER);
  site.roles.set(PEER, "silent");
  assertEquals(await site.start(), "asking");
  assertEquals(await site.after(1_900), "asking");
  assertEquals(await site.after(100), "open");
  const reason = site.fence.unaskedReason!;
  assert(reason.includes(NAMESRV) && reason.includes(PEER), reason);
  assertEquals([...site.fence.silent].sort(), [NAMESRV, PEER]);
  assertEquals(site.logger.lines.length, 1);
  // The promoted one is back: with the next look this broker gives way.
  site.roles.set(PEER, roleOf());
  assertEquals(await site.after(5_000), "fenced");
});

test("HAFence asks Apache's brokers nothing that they could take amiss", async () => {
  const site = new FenceSite();
  site.namesrvAddrs = [NAMESRV];
  site.members.set(0, PEER);
  site.roles.set(PEER, "apache");
  assertEquals(await site.start(), "open");
  assertEquals(site.fence.unaskedReason, null);
  assert(!site.asked.some((it) => it.startsWith("322")));
});

test("HAFence after a standstill takes nothing before it has asked anew", async () => {
  const site = new FenceSite();
  site.peers.remember(PEER);
  site.roles.set(PEER, roleOf({ role: "SLAVE", brokerId: 1, epoch: 0 }));
  assertEquals(await site.start(), "open");
  await site.after(10_000);
  // Stopped for a minute; meanwhile the slave was promoted. A send comes before any tick.
  site.clock.advance(60_000);
  site.roles.set(PEER, roleOf());
  site.ended.add(PEER);
  assert(site.fence.refusal()!.includes("asks first"));
  assertEquals(await site.after(100), "fenced");
});

test("HAFence opens no gate with answers to questions asked before a standstill", async () => {
  const site = new FenceSite();
  site.peers.remember(PEER);
  site.roles.set(PEER, "silent");
  assertEquals(await site.start(), "asking");
  site.clock.advance(60_000);
  assertEquals(await site.after(1_900), "asking");
  site.roles.set(PEER, roleOf());
  assertEquals(await site.after(5_000), "fenced");
});

test("HAFence lets a lone broker take messages right after a standstill", async () => {
  const site = new FenceSite();
  await site.start();
  site.clock.advance(60_000);
  assertEquals(site.fence.refusal(), null);
});

test("HAFence looks every second once a slave has left", async () => {
  const site = new FenceSite();
  site.peers.remember(PEER);
  site.roles.set(PEER, roleOf({ role: "SLAVE", brokerId: 1, epoch: 0 }));
  site.slaveCount = 1;
  await site.start();
  await site.after(200);
  site.slaveCount = 0;
  await site.after(200);
  site.roles.set(PEER, roleOf());
  assertEquals(await site.after(1_000), "fenced");
});

test("HAFence looks at once when somebody of its name claims a higher epoch", async () => {
  const site = new FenceSite(1);
  site.peers.remember(PEER);
  site.roles.set(PEER, roleOf({ role: "SLAVE", brokerId: 1, epoch: 1 }));
  await site.start();
  await site.after(100);
  site.roles.set(PEER, roleOf({ epoch: 2 }));
  site.fence.onHint("broker-b", 2);
  site.fence.onHint("broker-a", 0);
  assertEquals(await site.after(100), "open");
  site.fence.onHint("broker-a", 2);
  assertEquals(await site.after(100), "fenced");
});

test("HAFence.confirm() looks at a name server before it is told of this broker", async () => {
  const site = new FenceSite();
  assertEquals(await site.start(), "open");
  assert(await site.fence.confirm(NAMESRV));
  site.members.set(0, PEER);
  site.roles.set(PEER, roleOf());
  assertEquals(await site.fence.confirm(NAMESRV), false);
  assertEquals(site.fence.state, "fenced");
  assertEquals(await site.fence.isShownAt(NAMESRV), false);
  site.members.set(0, OWN);
  assert(await site.fence.isShownAt(NAMESRV));
});

test("HAFence names a peer that refuses to answer it, with the cure, and serves", async () => {
  const site = new FenceSite();
  site.peers.remember(PEER);
  site.roles.set(PEER, "refusing");
  assertEquals(await site.start(), "open");
  const reason = site.fence.unaskedReason!;
  for (const part of [PEER, "code 16", "accessKey", "plain_acl.yml"]) {
    assert(reason.includes(part), reason);
  }
  assertEquals(site.fence.silent, []);
  assertEquals(site.logger.lines.length, 1);
  // It is cured while this broker runs.
  site.roles.set(PEER, roleOf({ role: "SLAVE", brokerId: 1, epoch: 0 }));
  await site.after(6_000);
  assertEquals([site.fence.unaskedReason, site.fence.state], [null, "open"]);
});
