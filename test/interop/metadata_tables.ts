/** The tables that a slave copies, asked of any broker over remoting, in one shape for all versions. */
import { assertEquals } from "@std/assert";
import { parseFastjson } from "../../src/protocol/fastjson.ts";
import { RawClient } from "../support/raw_client.ts";

const GET_ALL_TOPIC_CONFIG = 21;
const GET_ALL_CONSUMER_OFFSET = 43;
const GET_ALL_DELAY_OFFSET = 45;
const GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201;

/** Fields that 4.9 and 5.x both have, and the attributes of 5.x, where there are any. */
const TOPIC_FIELDS = [
  "readQueueNums",
  "writeQueueNums",
  "perm",
  "topicFilterType",
  "topicSysFlag",
  "order",
  "attributes",
];
const GROUP_FIELDS = [
  "consumeEnable",
  "consumeFromMinEnable",
  "consumeBroadcastEnable",
  "retryQueueNums",
  "retryMaxTimes",
  "brokerId",
  "whichBrokerWhenConsumeSlowly",
  "notifyConsumerIdsChangedEnable",
];

type Table = Record<string, unknown>;

/** The four sets. */
export interface MetadataTables {
  topics: Table;
  subscriptionGroups: Table;
  consumerOffsets: Table;
  delayOffsets: Table;
}

/** Asks a broker for its tables. */
export async function metadataTables(address: string): Promise<MetadataTables> {
  const client = await RawClient.open(address);
  try {
    const ask = async (code: number, field: string): Promise<Table> => {
      const answer = await client.invoke(code);
      assertEquals(answer.code, 0, `${code} of ${address}: ${answer.remark}`);
      const text = new TextDecoder().decode(answer.body);
      const body = parseFastjson(text === "" ? "{}" : text) as Table;
      return (body[field] ?? {}) as Table;
    };
    return {
      topics: picked(
        await ask(GET_ALL_TOPIC_CONFIG, "topicConfigTable"),
        TOPIC_FIELDS,
      ),
      subscriptionGroups: picked(
        await ask(GET_ALL_SUBSCRIPTIONGROUP_CONFIG, "subscriptionGroupTable"),
        GROUP_FIELDS,
      ),
      consumerOffsets: await ask(GET_ALL_CONSUMER_OFFSET, "offsetTable"),
      delayOffsets: await ask(GET_ALL_DELAY_OFFSET, "offsetTable"),
    };
  } finally {
    client.close();
  }
}

/** Names of what differs, as `topics.SomeTopic`. */
export function differencesOf(
  left: MetadataTables,
  right: MetadataTables,
): string[] {
  return (Object.keys(left) as (keyof MetadataTables)[]).flatMap((set) => {
    const names = new Set([
      ...Object.keys(left[set]),
      ...Object.keys(right[set]),
    ]);
    return [...names].filter((name) =>
      JSON.stringify(left[set][name]) !== JSON.stringify(right[set][name])
    ).map((name) => `${set}.${name}`);
  });
}

function picked(table: Table, fields: string[]): Table {
  return Object.fromEntries(
    Object.entries(table).map(([name, row]) => [
      name,
      Object.fromEntries(
        fields.map((it) => [it, (row as Table)[it]])
          .filter(([it, value]) =>
            it !== "attributes" || JSON.stringify(value ?? {}) !== "{}"
          ),
      ),
    ]),
  );
}
