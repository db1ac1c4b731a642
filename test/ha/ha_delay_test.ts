/** Delayed messages over changes of role (scenarios 116, 119). */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  caughtUp,
  type PairNode,
  startMaster,
  startSlave,
  stopAll,
} from "./pair_site.ts";

const COUNT = 1_000;
const IN_FLIGHT = 100;
const STORE = {
  messageDelayLevel: "1s 2s",
  mappedFileSizeCommitLog: 1_048_576,
};

const inPair = (
  flushDelayOffsetInterval: number,
  run: (master: PairNode, slave: PairNode) => Promise<void>,
) =>
  withTempDirectory(async (folder) => {
    const broker = { flushDelayOffsetInterval };
    const options = { broker, store: STORE };
    const master = await startMaster(`${folder}/a`, options);
    const slave = await startSlave(`${folder}/b`, master, options);
    await eventually(
      () => master.controller.ha.state().state === "healthy",
      { message: "the pair is healthy" },
    );
    await run(master, slave);
  });

/** Half of the messages for each level. */
async function sendDelayed({ address }: PairNode): Promise<void> {
  const client = await RawClient.open(address);
  for (let sent = 0; sent < COUNT; sent += IN_FLIGHT) {
    const answers = await Promise.all(
      Array.from({ length: IN_FLIGHT }, (_, index) =>
        client.send(
          "T",
          0,
          new TextEncoder().encode(`m${sent + index}`),
          `DELAY\u0001${1 + index % 2}\u0002`,
        )),
    );
    assertEquals(answers.filter((it) => it.code !== 0), []);
  }
  client.close();
}

const deliveredCount = ({ controller }: PairNode) =>
  controller.messageStore.getMaxOffsetInQueue("T", 0);

/** How often each message was delivered. */
async function deliveries(node: PairNode): Promise<Map<string, number>> {
  const client = await RawClient.open(node.address);
  const times = new Map<string, number>();
  const end = deliveredCount(node);
  for (let offset = 0; offset < end;) {
    const answer = await client.pull("g", "T", 0, offset);
    assertEquals(answer.code, 0, answer.remark ?? "");
    for (let at = 0; at < answer.body.length;) {
      const record = decodeMessageRecord(answer.body, at);
      const body = new TextDecoder().decode(record.body);
      times.set(body, (times.get(body) ?? 0) + 1);
      at += record.storeSize;
      offset++;
    }
  }
  client.close();
  return times;
}

const isBegun = (node: PairNode) =>
  eventually(() => deliveredCount(node) > COUNT / 4, {
    message: "delivery has begun",
  });

/** Nothing is delivered any more, to nobody. */
async function isOver(node: PairNode): Promise<void> {
  const { messageStore, parts } = node.controller;
  const { delayOffsetFile } = parts;
  await eventually(
    () =>
      [1, 2].every((level) =>
        delayOffsetFile.offsets().get(level) ===
          messageStore.getMaxOffsetInQueue("SCHEDULE_TOPIC_XXXX", level - 1)
      ),
    { timeoutMs: 15_000, message: "all is delivered and noted" },
  );
}

test("116: after a planned swap each delayed message is delivered once, by whoever leads", () =>
  inPair(60_000, async (master, slave) => {
    await sendDelayed(master);
    await isBegun(master);
    await master.controller.roles.demote({
      force: false,
      haMasterAddress: slave.haAddress,
    });
    const before = deliveredCount(slave);
    assert(before < COUNT, "nothing was left to deliver");
    await slave.controller.roles.promote({ force: false });
    await eventually(() => deliveredCount(slave) >= COUNT, {
      timeoutMs: 15_000,
    });
    await caughtUp(slave, master);
    const times = await deliveries(slave);
    assertEquals(times.size, COUNT);
    assertEquals([...times.values()].filter((it) => it !== 1), []);
    await stopAll(master, slave);
  }));

test("116, 119: a slave delivers nothing itself, and promoted goes on from its master's table", () =>
  inPair(400, async (master, slave) => {
    await sendDelayed(master);
    await isBegun(master);
    await caughtUp(master, slave);
    // Whatever the master notes from here on the slave does not hear.
    await master.controller.stop();
    const { messageStore, parts } = slave.controller;
    const { maxPhyOffset } = messageStore;
    const noted = parts.delayOffsetFile.offsets().get(1) ?? 0;
    assert(parts.delayOffsetFile.deliveredUntil <= maxPhyOffset);
    await slave.controller.roles.promote({ force: false });
    await isOver(slave);
    const times = await deliveries(slave);
    assertEquals(times.size, COUNT);
    assert([...times.values()].every((it) => it <= 2));
    const repeated = [...times.values()].filter((it) => it === 2).length;
    assert(repeated <= COUNT - noted, `${repeated} of ${COUNT - noted}`);
    await stopAll(slave);
  }));
