/** Records that only 5.x writes and reads, made over remoting: no tool makes them on demand. */
import { assertEquals } from "@std/assert";
import {
  encodeProperties,
  MessageConst,
} from "../../src/model/message_properties.ts";
import { encodeMessageBatch } from "../../src/model/message_batch.ts";
import { RawClient } from "../support/raw_client.ts";
import type { Node } from "./ha_pair.ts";
import type { OurBroker } from "./our_broker.ts";

const UPDATE_AND_CREATE_TOPIC = 17;
const SEND_BATCH_MESSAGE = 320;
/** Only topics of retries and dead letters may have more than 127 bytes: they take v2 records. */
const LONG_TOPIC = "%DLQ%" + "g".repeat(140);
const BATCH_TOPIC = "InnerBatches";
const BATCH_SIZE = 4;

/** Creates a topic with attributes, as `+key=value`. */
export async function createAttributedTopic(
  client: RawClient,
  topic: string,
  attributes: string,
): Promise<void> {
  const answer = await client.invoke(UPDATE_AND_CREATE_TOPIC, {
    topic,
    defaultTopic: "TBW102",
    readQueueNums: "2",
    writeQueueNums: "2",
    perm: "6",
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: "0",
    order: "false",
    attributes,
  });
  assertEquals(answer.code, 0, answer.remark ?? undefined);
}

/**
 * One message in a topic whose name is longer than a v1 record can hold. Apache's own broker
 * takes none from clients: it writes such records for the retries of POP alone.
 */
export async function writeLongTopic(master: OurBroker): Promise<void> {
  const client = await RawClient.open(master.address);
  const sent = await client.send(LONG_TOPIC, 0, new Uint8Array(10));
  assertEquals(sent.code, 0, sent.remark ?? undefined);
  client.close();
}

/** Batches that stay one record each, in a topic with `queue.type=BatchCQ`, and one record more. */
export async function writeInnerBatches(
  master: Node,
  count: number,
): Promise<void> {
  const client = await RawClient.open(master.address);
  await createAttributedTopic(client, BATCH_TOPIC, "+queue.type=BatchCQ");
  for (let number = 0; number < count; number++) {
    const entries = Array.from({ length: BATCH_SIZE }, (_, index) => ({
      flag: 0,
      body: new TextEncoder().encode(`body${number}.${index}`),
      propertiesText: propertiesOf(`${number}.${index}`),
    }));
    const answer = await client.invoke(SEND_BATCH_MESSAGE, {
      a: "batch-producers",
      b: BATCH_TOPIC,
      c: "TBW102",
      d: "8",
      e: "0",
      f: "0",
      g: "1700000000000",
      h: "0",
      i: propertiesOf(`${number}`),
      j: "0",
      k: "false",
      m: "true",
    }, encodeMessageBatch(entries));
    assertEquals(answer.code, 0, answer.remark ?? undefined);
    assertEquals(answer.extFields.queueOffset, String(number * BATCH_SIZE));
  }
  client.close();
}

function propertiesOf(key: string): string {
  return encodeProperties(
    new Map([[MessageConst.UNIQ_KEY, `7F0000010000000000000000000${key}`]]),
  );
}
