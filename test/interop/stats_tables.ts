/** Where queues and groups stand (202, 208, 317) and who is connected (203, 204): both answers. */
import { assertEquals } from "@std/assert";
import { parseFastjson } from "../../src/protocol/fastjson.ts";
import type { ExtFields } from "../../src/protocol/remoting_command.ts";
import type { RawClient } from "../support/raw_client.ts";
import { GROUP, TOPIC } from "./stats_load.ts";

/** Where queues and groups stand. */
const TABLES: readonly (readonly [number, ExtFields])[] = [
  [202, { topic: TOPIC }],
  [208, { consumerGroup: GROUP }],
  [208, { consumerGroup: GROUP, topic: TOPIC }],
  [317, { isOrder: "false" }],
  [203, { consumerGroup: GROUP }],
  [204, { producerGroup: "stats-producers" }],
];

/** Both say the same of the same queues, groups and clients. */
export async function compareTables(
  version: string,
  apache: RawClient,
  ours: RawClient,
): Promise<void> {
  for (const [code, fields] of TABLES) {
    // 4.9 lacks a group of RocketMQ's own in its list of all.
    if (code === 317 && version.startsWith("4.")) continue;
    assertEquals(
      await table(ours, code, fields),
      await table(apache, code, fields),
      String(code),
    );
  }
}

/** The numbers of an answer, without those that are of a moment, a port or one version. */
async function table(
  client: RawClient,
  code: number,
  fields: ExtFields,
): Promise<unknown> {
  const answer = await client.invoke(code, fields);
  assertEquals(answer.code, 0, `${code}: ${answer.remark}`);
  const text = new TextDecoder().decode(answer.body);
  return sorted(parseFastjson(text));
}

const OF_A_MOMENT = [
  "lastUpdateTimestamp",
  "lastTimestamp",
  "consumeTps",
  "topicPutTps",
  "brokerAddr",
  "clientAddr",
  "subVersion",
];
/** Of 5.x alone. */
const OF_5 = ["pullOffset", "totalInflightDiff"];

function sorted(value: unknown): unknown {
  if (value instanceof Map) return sorted([...value]);
  if (Array.isArray(value)) {
    return value.map((it) => JSON.stringify(sorted(it))).sort();
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !OF_A_MOMENT.includes(key) && !OF_5.includes(key))
      .sort(([a], [b]) => a < b ? -1 : 1)
      .map(([key, it]) => [key, sorted(it)]),
  );
}
