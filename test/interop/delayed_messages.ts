/** Delayed messages of our masters, and what Apache's slaves note of their delivery. */
import { assertEquals } from "@std/assert";
import { existsSync, readFileSync } from "node:fs";
import { parseFastjson } from "../../src/protocol/fastjson.ts";
import { RawClient } from "../support/raw_client.ts";
import type { OurBroker } from "./our_broker.ts";

/** Sends messages that wait 1 s and 5 s. */
export async function writeDelayed(
  master: OurBroker,
  topic: string,
  count: number,
): Promise<void> {
  const client = await RawClient.open(master.address);
  for (let number = 0; number < count; number++) {
    const sent = await client.send(
      topic,
      0,
      new TextEncoder().encode(`delayed${number}`),
      `TAGS\u0001Delayed\u0002DELAY\u0001${1 + number % 2}\u0002`,
    );
    assertEquals(sent.code, 0, sent.remark ?? undefined);
  }
  client.close();
}

/** The offsets in a store's delayOffset.json: 4.9's slave does not answer them. */
export function delayOffsetsIn(storePath: string): Record<string, unknown> {
  const path = `${storePath}/config/delayOffset.json`;
  if (!existsSync(path)) return {};
  const file = parseFastjson(readFileSync(path, "utf8"));
  return (file as { offsetTable?: Record<string, unknown> }).offsetTable ?? {};
}
