/** How a slave joins: what is compared, taken over, refused, and how that is said. */
import { cpSync, existsSync } from "node:fs";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { NamesrvController } from "../../src/namesrv/namesrv_controller.ts";
import { DEFAULT_NAMESRV_OPTIONS } from "../../src/namesrv/namesrv_options.ts";
import { DEFAULT_REMOTING_SERVER_OPTIONS } from "../../src/remoting/remoting_options.ts";
import { JsonFile } from "../../src/store/json_file.ts";
import { runtime } from "../broker/broker_site.ts";
import { FakeLogger } from "../broker/fakes.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  caughtUp,
  logBytes,
  type PairNode,
  sends,
  startMaster,
  startSlave,
  stopAll,
} from "./pair_site.ts";

/** Waits for a named problem and returns the state and its sentence. */
function stateOf(node: PairNode, word: string): Promise<string> {
  return eventually(() => {
    const { reason, state } = node.controller.ha.state();
    return state === word ? reason ?? "no reason" : "";
  }, { message: `the state is ${word}` });
}

test("an empty slave takes the file size of its master, and keeps it", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    await sends(master, 300);
    const other = { mappedFileSizeCommitLog: 1_048_576 };
    let slave = await startSlave(`${folder}/s`, master, { store: other });
    await caughtUp(master, slave);
    assertEquals(
      slave.controller.messageStore.options.mappedFileSizeCommitLog,
      262_144,
    );
    // As in Apache, an empty slave begins with the newest file.
    assertEquals(slave.controller.messageStore.minPhyOffset, 262_144);
    await slave.controller.stop();
    slave = await startSlave(`${folder}/s`, master, { store: other });
    await sends(master, 10);
    await caughtUp(master, slave);
    await stopAll(slave, master);
  }));

test("an explicit size that differs transfers nothing and names the cure", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    await sends(master, 10);
    const slave = await startSlave(`${folder}/s`, master, {
      store: {
        mappedFileSizeCommitLog: 1_048_576,
        explicitKeys: ["mappedFileSizeCommitLog"],
      },
    });
    const reason = await stateOf(slave, "stalled");
    assert(reason.includes("set mappedFileSizeCommitLog=262144"), reason);
    assertEquals(slave.controller.messageStore.maxPhyOffset, 0);
    await stopAll(slave, master);
  }));

test("haBootstrap=min begins with the oldest byte of the master", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    await sends(master, 1_500);
    assert(master.controller.messageStore.maxPhyOffset > 6 * 262_144);
    const min = { ha: { haBootstrap: "min" } } as const;
    let slave = await startSlave(`${folder}/s`, master, min);
    await caughtUp(master, slave);
    await slave.controller.stop();
    await sends(master, 1_000);
    slave = await startSlave(`${folder}/s`, master, min);
    await caughtUp(master, slave);
    assertEquals(slave.controller.messageStore.minPhyOffset, 0);
    assertEquals(Buffer.compare(logBytes(master), logBytes(slave)), 0);
    const { topicConfigManager } = slave.controller.parts;
    await eventually(() => topicConfigManager.selectTopicConfig("T"));
    await sameFirstMessages(master, slave);
    await stopAll(slave, master);
  }));

/** What a pull at the lowest offset of each queue gives is the same on both. */
async function sameFirstMessages(one: PairNode, other: PairNode) {
  const clients = [
    await RawClient.open(one.address),
    await RawClient.open(other.address),
  ];
  for (let queueId = 0; queueId < 4; queueId++) {
    const [offset, same] = [one, other].map(({ controller }) =>
      controller.messageStore.getMinOffsetInQueue("T", queueId)
    );
    assertEquals(offset, same);
    const answers = clients.map((it) => it.pull("g", "T", queueId, offset!));
    const [ours, theirs] = await Promise.all(answers);
    assertEquals([ours!.code, theirs!.code], [0, 0]);
    assertEquals(Buffer.compare(ours!.body, theirs!.body), 0);
  }
  for (const it of clients) it.close();
}

test("a slave that is longer, or holds other bytes, is diverged and keeps them", () =>
  withTempDirectory(async (folder) => {
    let master = await startMaster(`${folder}/m`);
    let slave = await startSlave(`${folder}/s`, master);
    await sends(master, 20);
    await caughtUp(master, slave);
    await stopAll(slave, master);
    cpSync(`${folder}/m`, `${folder}/old`, { recursive: true });
    // Both go on alone: the same length in the end, other bytes.
    master = await startMaster(`${folder}/m`);
    await sends(master, 30);
    slave = await startSlave(`${folder}/s`, master);
    await caughtUp(master, slave);
    const end = slave.controller.messageStore.maxPhyOffset;
    await stopAll(slave, master);
    master = await startMaster(`${folder}/old`);
    slave = await startSlave(`${folder}/s`, master);
    assert((await stateOf(slave, "diverged")).includes(`ends at ${end}`));
    await sends(master, 40);
    slave.controller.ha.client.tick();
    await eventually(() =>
      slave.controller.ha.state().reason?.includes("differ from")
    );
    assertEquals(slave.controller.messageStore.maxPhyOffset, end);
    await stopAll(slave, master);
  }));

test("a slave of another brokerName says which field is wrong", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    const slave = await startSlave(`${folder}/s`, master, {
      broker: { brokerName: "broker-x" },
    });
    const reason = await stateOf(slave, "stalled");
    assert(reason.includes("brokerName is broker-x here and broker-a"));
    assert(slave.logger.lines.some((it) => it.includes("brokerName is")));
    await stopAll(slave, master);
  }));

test("haAckAfterFlush acknowledges what is flushed", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`, {
      broker: { brokerRole: "SYNC_MASTER" },
      ha: { slaveTimeout: 3_000 },
    });
    const slave = await startSlave(`${folder}/s`, master, {
      ha: { haAckAfterFlush: true },
    });
    await eventually(() => master.controller.ha.service.inSyncSlaveNums === 1);
    assertEquals(await sends(master, 30), new Array(30).fill(0));
    const { flushedOffset } = slave.controller.messageStore;
    assertEquals(flushedOffset, master.controller.messageStore.maxPhyOffset);
    await stopAll(slave, master);
  }));

test("a slave finds its master by the name server, also after it has moved", () =>
  withTempDirectory(async (folder) => {
    const logger = new FakeLogger();
    const namesrv = new NamesrvController(
      {
        ...runtime,
        logger,
        openJsonFile: (path) => new JsonFile(runtime.fileSystem, path, logger),
      },
      {
        ...DEFAULT_NAMESRV_OPTIONS,
        bindAddress: "127.0.0.1",
        listenPort: 0,
        kvConfigPath: "",
      },
      DEFAULT_REMOTING_SERVER_OPTIONS,
    );
    await namesrv.start();
    const namesrvAddr = `127.0.0.1:${namesrv.listener.port}`;
    let master = await startMaster(`${folder}/m`, {
      broker: { namesrvAddr },
    });
    await eventually(() =>
      master.controller.registration.states()[0]?.isRegistered
    );
    const slave = await startSlave(`${folder}/s`, master, {
      broker: { namesrvAddr },
      ha: { haMasterAddress: "" },
    });
    await sends(master, 10);
    await caughtUp(master, slave);
    assertEquals(slave.controller.ha.haMasterAddress, master.haAddress);
    assertEquals(slave.controller.ha.masterAddress, master.address);
    // It moves to other ports, and is found there long before the next period.
    await master.controller.stop();
    master = await startMaster(`${folder}/m`, { broker: { namesrvAddr } });
    await sends(master, 10);
    await caughtUp(master, slave);
    assertEquals(slave.controller.ha.haMasterAddress, master.haAddress);
    await stopAll(slave, master);
    await namesrv.stop();
  }));

test("907 answers HARuntimeInfo on both sides, without nulls for Java's primitives", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    const slave = await startSlave(`${folder}/s`, master);
    await sends(master, 5);
    await caughtUp(master, slave);
    await eventually(() => master.controller.ha.service.inSyncSlaveNums === 1);
    const ask = async (node: PairNode) => {
      const client = await RawClient.open(node.address);
      const { body } = await client.invoke(907);
      client.close();
      return JSON.parse(new TextDecoder().decode(body));
    };
    const ofMaster = await ask(master);
    assertEquals(ofMaster.master, true);
    assertEquals(ofMaster.inSyncSlaveNums, 1);
    assertEquals(ofMaster.haConnectionInfo[0].inSync, true);
    assertEquals(
      ofMaster.masterCommitLogMaxOffset,
      master.controller.messageStore.maxPhyOffset,
    );
    const admin = await RawClient.open(master.address);
    const epochs = await admin.invoke(1007);
    admin.close();
    assertEquals(
      [epochs.code, epochs.remark],
      [1, "this request only for controllerMode "],
    );
    const ofSlave = await ask(slave);
    assertEquals(ofSlave.master, false);
    assertEquals(ofSlave.haClientRuntimeInfo.activated, true);
    assertEquals(ofSlave.haClientRuntimeInfo.masterAddr, master.haAddress);
    assert(!JSON.stringify(ofMaster.haConnectionInfo).includes("null"));
    assertEquals(existsSync(`${folder}/s/abort`), true);
    await stopAll(slave, master);
  }));

test("a slave below the master's first byte needs a re-seed, and is told so", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    let slave = await startSlave(`${folder}/s`, master);
    await sends(master, 20);
    await caughtUp(master, slave);
    await slave.controller.stop();
    await sends(master, 600);
    const { mappedFileQueue } = master.controller.messageStore.commitLog;
    await mappedFileQueue.deleteFirstFiles(2);
    slave = await startSlave(`${folder}/s`, master, {
      ha: { haAutoReseed: false },
    });
    const reason = await stateOf(slave, "needs-reseed");
    assert(reason.includes("the master's begins at 524288"), reason);
    await stopAll(slave, master);
  }));

test("haAllowedPeers turns strangers away before a byte is sent, also at run time", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`, {
      ha: { haAllowedPeers: "10.9.0.0/16" },
    });
    await sends(master, 5);
    const slave = await startSlave(`${folder}/s`, master);
    await eventually(() =>
      slave.controller.ha.state().reason?.includes("does haAllowedPeers")
    );
    assert(
      master.logger.lines.some((it) => it.includes("not in haAllowedPeers")),
    );
    assertEquals(slave.controller.messageStore.maxPhyOffset, 0);
    const { options } = master.controller;
    master.controller.reconfigure({
      ...options,
      ha: { ...options.ha, haAllowedPeers: "127.0.0.0/8" },
    });
    await caughtUp(master, slave);
    await stopAll(slave, master);
  }));
