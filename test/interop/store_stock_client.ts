/** A stock client reads a whole store at its broker: what it prints must be what was written. */
import { assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { runDriver } from "./java.ts";
import type { StoreContent } from "../support/store_content.ts";
import {
  GROUP,
  type StoredMessage,
  TOPICS,
} from "../support/store_messages.ts";
import { lookedUp } from "./store_readback.ts";

/** All of one kind that the driver printed, as tab-separated fields. */
type Printed = (kind: string) => string[][];

/**
 * Pulls every queue, looks messages up by offset id, client id and key, and asks for positions.
 * Nothing else may be in the topics of `content` but what was acknowledged.
 */
export async function readByStockClient(
  driver: string,
  namesrv: string,
  folder: string,
  content: StoreContent,
): Promise<void> {
  const wanted = lookedUp(content);
  const keyed = wanted.filter((it) => it.keys.length > 0);
  const lookups = `${folder}/lookups`;
  writeFileSync(
    lookups,
    [
      ...wanted.map((it) => `id ${it.topic} ${it.msgId}`),
      ...wanted.map((it) => `id ${it.topic} ${it.uniqKey}`),
      ...keyed.map((it) => `key ${it.topic} key${it.number}`),
    ].join("\n") + "\n",
  );
  const done = await runDriver(driver, [
    "readstore",
    `namesrv=${namesrv}`,
    `group=${GROUP}`,
    `topics=${TOPICS.map((it) => it.topic)}`,
    `lookups=${lookups}`,
  ], folder);
  assertEquals(done.code, 0, done.output.slice(-4_000));
  const rows = done.output.split("\n").map((line) => line.split("\t"));
  const printed: Printed = (kind) =>
    rows.filter((row) => row[0] === kind).map((row) => row.slice(1));
  assertEquals(
    sorted(printed("MSG")),
    sorted(content.messages.map(rowOf)),
  );
  assertEquals(printed("ID"), [...wanted, ...wanted].map(rowOf));
  assertEquals(printed("KEY"), keyed.map(rowOf));
  checkQueues(printed("QUEUE"), content);
}

/** As the driver prints a message. */
function rowOf(message: StoredMessage): string[] {
  const { topic, queueId, queueOffset, phyOffset, body, tag, keys } = message;
  return [
    topic,
    String(queueId),
    String(queueOffset),
    String(phyOffset),
    createHash("sha256").update(body).digest("hex"),
    tag,
    keys.length > 0 ? keys.join(" ") : "null",
  ];
}

/** Rows `topic queueId min max position`. */
function checkQueues(rows: string[][], content: StoreContent): void {
  const expected = TOPICS.flatMap(({ topic, queueNums }) =>
    Array.from({ length: queueNums }, (_, queueId) => [
      topic,
      String(queueId),
      "0",
      String(content.endOf(topic, queueId)),
      String(content.positions[`${topic}@${GROUP}`]![queueId]),
    ])
  );
  assertEquals(sorted(rows), sorted(expected));
}

function sorted(rows: string[][]): string[] {
  return rows.map((it) => it.join(" ")).sort();
}
