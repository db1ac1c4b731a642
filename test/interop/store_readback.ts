/** Reads back over remoting what a store holds: by place, by key, by id; positions, topics, groups. */
import { assert, assertEquals } from "@std/assert";
import type { MessageExt } from "../../src/model/message_ext.ts";
import {
  decodeProperties,
  MessageConst,
} from "../../src/model/message_properties.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { RawClient } from "../support/raw_client.ts";
import {
  differencesOf,
  type MetadataTables,
  metadataTables,
} from "./metadata_tables.ts";
import type { StoreContent } from "../support/store_content.ts";
import {
  DEALS,
  DELAY_QUEUE,
  GROUP,
  type NumberedMessage,
  OTHER_GROUP,
  propertiesOf,
  type StoredMessage,
  TOPICS,
} from "../support/store_messages.ts";

const PULL_NOT_FOUND = 19;
const PULL_OFFSET_MOVED = 21;
const QUERY_MESSAGE = 12;
const QUERY_CONSUMER_OFFSET = 14;
const GET_MAX_OFFSET = 30;
const VIEW_MESSAGE_BY_ID = 33;
/** Messages that are looked up one by one: these and every so many-th. */
const LOOKED_UP = 40;
const text = new TextDecoder();

/** Everything that `content` says must be there, and nothing twice; then the queues go on. */
export async function checkStore(
  address: string,
  content: StoreContent,
  tables: MetadataTables,
): Promise<void> {
  const client = await RawClient.open(address);
  try {
    for (const { topic, queueNums } of TOPICS) {
      for (let queueId = 0; queueId < queueNums; queueId++) {
        await checkQueue(client, content, topic, queueId);
      }
    }
    await checkSpecials(client, content);
    await checkKeys(client, content);
    await checkPositions(client, content);
    const found = await metadataTables(address);
    assertEquals(lackingOf(tables, found), []);
    await checkNextOffsets(client);
  } finally {
    client.close();
  }
}

/** Names of topics, groups and positions that are not as they were. */
export function lackingOf(
  before: MetadataTables,
  after: MetadataTables,
): string[] {
  const known = Object.fromEntries(
    Object.entries(before).map(([set, table]) => [
      set,
      Object.fromEntries(
        Object.keys(table).filter((it) =>
          it in after[set as keyof typeof after]
        )
          .map((it) => [it, after[set as keyof typeof after][it]]),
      ),
    ]),
  );
  return differencesOf(before, known as unknown as MetadataTables);
}

/** Every record of a queue from its beginning, as a consumer gets them. */
export async function readQueue(
  client: RawClient,
  topic: string,
  queueId: number,
): Promise<MessageExt[]> {
  const records: MessageExt[] = [];
  for (;;) {
    const answer = await client.pull(GROUP, topic, queueId, records.length);
    if (answer.code !== 0) {
      const isEnd = answer.code === PULL_NOT_FOUND ||
        answer.code === PULL_OFFSET_MOVED;
      assert(isEnd, `${topic}/${queueId}: ${answer.code} ${answer.remark}`);
      return records;
    }
    for (let at = 0; at < answer.body.length;) {
      const record = decodeMessageRecord(answer.body, at);
      assertEquals(record.queueOffset, records.length, `${topic}/${queueId}`);
      // The connection's bytes are used again.
      records.push({ ...record, body: record.body.slice() });
      at += record.storeSize;
    }
  }
}

async function checkQueue(
  client: RawClient,
  content: StoreContent,
  topic: string,
  queueId: number,
): Promise<void> {
  const records = await readQueue(client, topic, queueId);
  const bodies = records.map((it) => text.decode(it.body));
  assertEquals(new Set(bodies).size, bodies.length, `${topic}: one came twice`);
  const place = `${topic}/${queueId}`;
  const expected = new Map(
    content.of(topic, queueId).map((it) => [it.queueOffset, it]),
  );
  const uncertain = new Set(content.uncertain.map((it) => it.body));
  records.forEach((record, queueOffset) => {
    const message = expected.get(queueOffset);
    if (message === undefined) {
      assert(uncertain.has(bodies[queueOffset]!), `${place}@${queueOffset}`);
    } else {
      checkRecord(record, message);
      assertEquals(record.phyOffset, message.phyOffset);
    }
    expected.delete(queueOffset);
  });
  assertEquals([...expected.keys()], [], `lost of ${place}`);
}

function checkRecord(record: MessageExt, message: NumberedMessage): void {
  assertEquals(text.decode(record.body), message.body);
  const found = decodeProperties(record.propertiesText);
  for (const [name, value] of propertiesOf(message)) {
    assertEquals(found.get(name), value, `${name} of ${message.number}`);
  }
}

/** What waits for its time, and what a transaction left. */
async function checkSpecials(
  client: RawClient,
  { delayed, deal }: StoreContent,
): Promise<void> {
  if (delayed !== null) {
    const { topic, queueId } = DELAY_QUEUE;
    const records = await readQueue(client, topic, queueId);
    assertEquals(records.length, 1);
    checkRecord(records[0]!, delayed);
  }
  if (deal !== null) {
    const records = await readQueue(client, DEALS, 0);
    assertEquals(records.length, 1);
    checkRecord(records[0]!, deal);
  }
}

async function checkKeys(
  client: RawClient,
  content: StoreContent,
): Promise<void> {
  for (const message of lookedUp(content)) {
    const { topic, number, uniqKey, keys, phyOffset } = message;
    const places = [phyOffset];
    assertEquals(await query(client, topic, uniqKey, true), places, uniqKey);
    if (keys.length > 0) {
      assertEquals(await query(client, topic, `key${number}`), places);
    }
    const viewed = await client.invoke(VIEW_MESSAGE_BY_ID, {
      topic,
      offset: String(phyOffset),
    });
    assertEquals(viewed.code, 0, viewed.remark ?? undefined);
    checkRecord(decodeMessageRecord(viewed.body), message);
  }
  // A key of many messages, fewer than a query gives.
  const shared = content.messages.filter((it) =>
    it.topic === "Rare" && it.keys.includes("shared3")
  ).map((it) => it.phyOffset).sort((a, b) => a - b);
  const found = await query(client, "Rare", "shared3");
  assertEquals(
    found.filter((it) => shared.includes(it)),
    shared,
  );
}

/** The first and the last messages, and some between them. */
export function lookedUp({ messages }: StoreContent): StoredMessage[] {
  const step = Math.max(1, Math.floor(messages.length / LOOKED_UP));
  return messages.filter((_, index) =>
    index % step === 0 || index >= messages.length - 3
  );
}

/** CommitLog offsets of the records that have the key. */
async function query(
  client: RawClient,
  topic: string,
  key: string,
  isUnique = false,
): Promise<number[]> {
  const answer = await client.invoke(QUERY_MESSAGE, {
    topic,
    key,
    maxNum: "64",
    beginTimestamp: "0",
    endTimestamp: String(Date.now() + 60_000),
    ...(isUnique ? { _UNIQUE_KEY_QUERY: "true" } : {}),
  });
  assertEquals(answer.code, 0, `${topic}#${key}: ${answer.remark}`);
  const found: number[] = [];
  for (let at = 0; at < answer.body.length;) {
    const record = decodeMessageRecord(answer.body, at);
    const properties = decodeProperties(record.propertiesText);
    const has = properties.get(MessageConst.UNIQ_KEY) === key ||
      properties.get(MessageConst.KEYS)?.split(" ").includes(key);
    if (record.topic === topic && has) found.push(record.phyOffset);
    at += record.storeSize;
  }
  return found.sort((a, b) => a - b);
}

async function checkPositions(
  client: RawClient,
  { positions }: StoreContent,
): Promise<void> {
  for (const group of [GROUP, OTHER_GROUP]) {
    for (const { topic, queueNums } of TOPICS) {
      for (let queueId = 0; queueId < queueNums; queueId++) {
        const answer = await client.invoke(QUERY_CONSUMER_OFFSET, {
          consumerGroup: group,
          topic,
          queueId: String(queueId),
        });
        const expected = positions[`${topic}@${group}`]![queueId];
        assertEquals(
          Number(answer.extFields.offset),
          expected,
          `${group} of ${topic}/${queueId}: ${answer.code}`,
        );
      }
    }
  }
}

/** What `checkStore` leaves at the end of some queues. */
export const NEXT_BODY = "next";

/** The next message of a queue takes the offset at its end. */
async function checkNextOffsets(client: RawClient): Promise<void> {
  for (const { topic, queueNums } of TOPICS) {
    const queueId = queueNums - 1;
    const end = await client.invoke(GET_MAX_OFFSET, {
      topic,
      queueId: String(queueId),
    });
    const sent = await client.send(
      topic,
      queueId,
      new TextEncoder().encode(NEXT_BODY),
    );
    assertEquals(sent.code, 0, sent.remark ?? undefined);
    assertEquals(sent.extFields.queueOffset, end.extFields.offset);
  }
}
