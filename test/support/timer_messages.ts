/** Timer messages over one raw connection, and what became of them. */
import { assertEquals } from "@std/assert";
import type { MessageExt } from "../../src/model/message_ext.ts";
import { findProperty } from "../../src/model/message_properties.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { RawClient } from "./raw_client.ts";

const IN_FLIGHT = 100;
const RECALL_MESSAGE = 370;

/** A message that was delivered. */
export interface DeliveredTimer {
  readonly body: string;
  readonly queueOffset: number;
  readonly storeTimestamp: number;
  /** When it was to be delivered; NaN for an ordinary message. */
  readonly dueMs: number;
  readonly properties: string;
}

/** Sends one message per delay to queue 0, bodies `<prefix><index>`; answers are their recall handles. */
export async function sendTimers(
  address: string,
  topic: string,
  prefix: string,
  delaysMs: readonly number[],
): Promise<string[]> {
  const client = await RawClient.open(address);
  const handles: string[] = [];
  try {
    for (let sent = 0; sent < delaysMs.length; sent += IN_FLIGHT) {
      const some = delaysMs.slice(sent, sent + IN_FLIGHT);
      const answers = await Promise.all(some.map((delayMs, index) => {
        const body = `${prefix}${sent + index}`;
        return client.send(
          topic,
          0,
          new TextEncoder().encode(body),
          `UNIQ_KEY\u0001K${body}\u0002` +
            `TIMER_DELIVER_MS\u0001${Date.now() + delayMs}\u0002`,
        );
      }));
      assertEquals(answers.filter((it) => it.code !== 0), []);
      handles.push(...answers.map((it) => it.extFields.recallHandle ?? ""));
    }
  } finally {
    client.close();
  }
  return handles;
}

/** The answer's code, 0: it is taken back. */
export async function recallTimer(
  address: string,
  topic: string,
  recallHandle: string,
): Promise<number> {
  const client = await RawClient.open(address);
  try {
    const fields = { producerGroup: "p", topic, recallHandle };
    return (await client.invoke(RECALL_MESSAGE, fields)).code;
  } finally {
    client.close();
  }
}

/** Every message of queue 0, in its order. */
export async function deliveredTimers(
  address: string,
  topic: string,
): Promise<DeliveredTimer[]> {
  const client = await RawClient.open(address);
  const all: DeliveredTimer[] = [];
  try {
    for (let offset = 0;;) {
      const answer = await client.pull("checker", topic, 0, offset);
      if (answer.code !== 0) return all;
      for (let at = 0; at < answer.body.length;) {
        const record = decodeMessageRecord(answer.body, at);
        all.push(timerOf(record));
        at += record.storeSize;
        offset = record.queueOffset + 1;
      }
    }
  } finally {
    client.close();
  }
}

function timerOf(record: MessageExt): DeliveredTimer {
  const { propertiesText, queueOffset, storeTimestamp } = record;
  const property = (name: string) =>
    Number(findProperty(propertiesText, name) ?? NaN);
  const asked = property("TIMER_DELIVER_MS");
  return {
    body: new TextDecoder().decode(record.body),
    queueOffset,
    storeTimestamp,
    dueMs: Number.isNaN(asked) ? property("TIMER_OUT_MS") + 1 : asked,
    properties: propertiesText,
  };
}
