/** Messages at the size limit are stored, copied and served; one byte more is refused (scenario 85). */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { encodeMessageBatch } from "../../src/model/message_batch.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { caughtUp, startMaster, startSlave } from "../ha/pair_site.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { HEARTBEAT } from "./broker_site.ts";

const LIMIT = 65_536;
const BATCH_ENTRY_OVERHEAD = 22;
/** As long as properties may be, with those that the broker adds. */
const LONG_PROPERTIES = `K\u0001${"v".repeat(32_500)}\u0002`;

/** Two messages whose batch has `size` bytes. */
function batchOf(size: number): Uint8Array {
  const first = Math.floor(size / 3);
  const entry = (total: number) => ({
    flag: 0,
    body: new Uint8Array(total - BATCH_ENTRY_OVERHEAD).fill(7),
    propertiesText: "",
  });
  const batch = encodeMessageBatch([entry(first), entry(size - first)]);
  assertEquals(batch.length, size);
  return batch;
}

function sendBatch(client: RawClient, topic: string, body: Uint8Array) {
  const fields = { a: "p", b: topic, c: "TBW102", d: "4", e: "0", f: "0" };
  const more = { g: "1", h: "0", m: "true" };
  return client.invoke(320, { ...fields, ...more }, body);
}

/** Sizes of all bodies of queue 0. */
async function bodySizes(client: RawClient, topic: string): Promise<number[]> {
  const sizes: number[] = [];
  for (let offset = 0;;) {
    const answer = await client.pull("g", topic, 0, offset);
    if (answer.code !== 0) return sizes;
    offset = Number(answer.extFields.nextBeginOffset);
    for (let position = 0; position < answer.body.length;) {
      const record = decodeMessageRecord(answer.body, position);
      assert(record.body.every((byte) => byte === 7));
      sizes.push(record.body.length);
      position += record.storeSize;
    }
  }
}

for (const topic of ["T", "t".repeat(127)]) {
  test(`85: a topic of ${topic.length} bytes takes messages up to the limit, and its pair carries them`, () =>
    withTempDirectory(async (folder) => {
      // The smallest file that the configuration takes for this limit.
      const store = {
        maxMessageSize: LIMIT,
        mappedFileSizeCommitLog: LIMIT + 192 * 1024,
      };
      const master = await startMaster(`${folder}/m`, { store });
      const slave = await startSlave(`${folder}/s`, master, { store });
      const client = await RawClient.open(master.address);
      const toSlave = await RawClient.open(slave.address);
      await client.invoke(34, {}, HEARTBEAT);
      const expected: number[] = [];
      for (const size of [LIMIT - 1, LIMIT, LIMIT + 1]) {
        for (const properties of ["", LONG_PROPERTIES]) {
          const body = new Uint8Array(size).fill(7);
          const sent = await client.send(topic, 0, body, properties);
          assertEquals(sent.code, size > LIMIT ? 13 : 0, sent.remark ?? "");
          if (size <= LIMIT) expected.push(size);
        }
        const batch = await sendBatch(client, topic, batchOf(size));
        assertEquals(batch.code, size > LIMIT ? 13 : 0, batch.remark ?? "");
        if (size <= LIMIT) {
          const first = Math.floor(size / 3);
          expected.push(first - BATCH_ENTRY_OVERHEAD);
          expected.push(size - first - BATCH_ENTRY_OVERHEAD);
        }
      }
      const long = `K\u0001${"v".repeat(32_800)}\u0002`;
      const refused = await client.send(topic, 0, new Uint8Array(1), long);
      assertEquals(refused.code, 13, refused.remark ?? "");
      assertEquals(await bodySizes(client, topic), expected);
      await caughtUp(master, slave);
      const { messageStore, metadata } = slave.controller;
      await eventually(() =>
        messageStore.getMaxOffsetInQueue(topic, 0) === expected.length &&
        Object.values(metadata.status()!).every((it) => it.inSync)
      );
      assertEquals(await bodySizes(toSlave, topic), expected);
      client.close();
      toSlave.close();
      await slave.controller.stop();
      await master.controller.stop();
    }));
}
