import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { MasterOffsetRecovery } from "../../src/broker/master_offset_recovery.ts";
import { encodeClusterInfo } from "../../src/protocol/body/cluster_info.ts";
import {
  createRequest,
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { HELD } from "../../src/remoting/request_processor.ts";
import { settle } from "./fake_master.ts";
import { fakeContext, topicOf } from "./fakes.ts";
import { ManagerRig } from "./manager_rig.ts";

const IDENTITY = {
  clusterName: "DefaultCluster",
  brokerName: "broker-a",
  brokerAddr: "10.0.0.1:10911",
  brokerId: 0,
  haServerAddr: "10.0.0.1:10912",
  heartbeatTimeoutMillis: 20_000,
};

/** A master that starts; `slaves` answer 43, or never. */
function site(slaves: Record<string, string | Error | null>) {
  const rig = new ManagerRig();
  rig.topicConfigManager.updateTopicConfig(topicOf("T"));
  rig.maxOffsets.set("T/0", 1_000);
  const brokerAddrs = new Map([[0, "10.0.0.1:10911"]]);
  for (const address of Object.keys(slaves)) {
    brokerAddrs.set(brokerAddrs.size, address);
  }
  const cluster = encodeClusterInfo({
    brokerAddrTable: new Map([[
      "broker-a",
      {
        cluster: "DefaultCluster",
        brokerName: "broker-a",
        brokerAddrs,
        enableActingMaster: false,
        zoneName: null,
      },
    ]]),
    clusterAddrTable: new Map([["DefaultCluster", ["broker-a"]]]),
  });
  const client = {
    invoke: async (address: string): Promise<RemotingCommand> => {
      await Promise.resolve();
      if (address === "ns") return createResponse(0, null, {}, cluster);
      const answer = slaves[address];
      if (answer === null) return await new Promise<never>(() => {});
      if (typeof answer !== "string") throw answer ?? new Error("refused");
      return createResponse(0, null, {}, new TextEncoder().encode(answer));
    },
  };
  const recovery = new MasterOffsetRecovery({ ...rig, client });
  const position = () => rig.consumerOffsetManager.queryOffset("g", "T", 0);
  const processor = recovery.wrap(() =>
    createResponse(0, null, { offset: String(position()) })
  );
  const context = fakeContext();
  const ask = () => processor(context, createRequest(14));
  return { rig, recovery, position, context, ask };
}

const AT_200 = '{"offsetTable":{"T@g":{0:200}}}';

test("52: positions wait until the slaves have told theirs", async () => {
  const { recovery, position, context, ask } = site({ slave: AT_200 });
  recovery.start(IDENTITY, ["ns", "dead"]);
  assertEquals(ask(), HELD);
  assert(recovery.isRunning);
  await settle();
  assertEquals(context.answers.map((it) => it.extFields.offset), ["200"]);
  assertEquals([position(), recovery.reason], [200, null]);
  assert(ask() !== HELD);
});

test("a slave that fails holds up nobody, and the others count", async () => {
  const { recovery, position } = site({
    dead: new Error("connection refused"),
    slave: AT_200,
  });
  recovery.start(IDENTITY, ["ns"]);
  await settle();
  assertEquals(position(), 200);
  assertEquals(recovery.reason, "connection refused");
});

test("a silent slave holds up 5 s, then the reason is shown", async () => {
  const { rig, recovery, context, ask } = site({ silent: null });
  recovery.start(IDENTITY, ["ns"]);
  assertEquals(ask(), HELD);
  await settle();
  rig.clock.advance(4_999);
  recovery.tick();
  assertEquals(context.answers.length, 0);
  rig.clock.advance(1);
  recovery.tick();
  assertEquals(context.answers.length, 1);
  assertStringIncludes(recovery.reason!, "5000 ms");
});

test("without slaves, name servers, or while it stops, nothing waits", async () => {
  const alone = site({});
  alone.recovery.start(IDENTITY, ["ns"]);
  await settle();
  assertEquals([alone.recovery.isRunning, alone.recovery.reason], [
    false,
    null,
  ]);
  const none = site({});
  none.recovery.start(IDENTITY, []);
  assert(!none.recovery.isRunning);
  const lost = site({ slave: AT_200 });
  lost.recovery.start(IDENTITY, ["dead"]);
  await settle();
  assertStringIncludes(lost.recovery.reason!, "name server");
  const stopping = site({ silent: null });
  stopping.recovery.start(IDENTITY, ["ns"]);
  stopping.ask();
  stopping.recovery.stop();
  assertEquals(stopping.context.answers.length, 1);
});

test("a promoted slave does not ask itself, whom a name server still shows as a slave", async () => {
  const own = IDENTITY.brokerAddr;
  // Whoever asked itself would wait for its own answer.
  const { recovery, position } = site({ [own]: null, slave: AT_200 });
  recovery.start(IDENTITY, ["ns"]);
  await settle();
  assertEquals([recovery.isRunning, recovery.reason, position()], [
    false,
    null,
    200,
  ]);
});
