/** Timer messages over changes of role. */
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
const STORE = { mappedFileSizeCommitLog: 1_048_576 };

const inPair = (
  timerFlushIntervalMs: number,
  run: (master: PairNode, slave: PairNode) => Promise<void>,
) =>
  withTempDirectory(async (folder) => {
    const broker = { timerFlushIntervalMs };
    const options = { broker, store: STORE };
    const master = await startMaster(`${folder}/a`, options);
    const slave = await startSlave(`${folder}/b`, master, options);
    await eventually(
      () => master.controller.ha.state().state === "healthy",
      { message: "the pair is healthy" },
    );
    await run(master, slave);
  });

/** Due within two seconds, from one second on. */
async function sendDelayed({ address }: PairNode): Promise<void> {
  const client = await RawClient.open(address);
  for (let sent = 0; sent < COUNT; sent += IN_FLIGHT) {
    const answers = await Promise.all(
      Array.from({ length: IN_FLIGHT }, (_, index) =>
        client.send(
          "T",
          0,
          new TextEncoder().encode(`m${sent + index}`),
          `TIMER_DELAY_MS\u0001${1_000 + index * 20}\u0002`,
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

test("after a planned swap each timer message is delivered once, by whoever leads", () =>
  inPair(60_000, async (master, slave) => {
    await sendDelayed(master);
    await isBegun(master);
    await master.controller.roles.demote({
      force: false,
      haMasterAddress: slave.haAddress,
    });
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

test("a slave delivers no timer message itself, and promoted goes on from its master's notes", () =>
  inPair(400, async (master, slave) => {
    await sendDelayed(master);
    await isBegun(master);
    await caughtUp(master, slave);
    // Whatever the master notes from here on the slave does not hear.
    await master.controller.stop();
    const { messageStore, parts } = slave.controller;
    assert(parts.delayOffsetFile.timers !== undefined, "nothing was noted");
    assert(parts.delayOffsetFile.deliveredUntil <= messageStore.maxPhyOffset);
    await slave.controller.roles.promote({ force: false });
    await eventually(
      async () => (await deliveries(slave)).size === COUNT,
      { timeoutMs: 15_000, message: "all are delivered" },
    );
    const times = await deliveries(slave);
    assert([...times.values()].every((it) => it <= 2));
    await stopAll(slave);
  }));
