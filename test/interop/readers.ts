/** Consumer groups of stock push consumers, one member each, and where the group stands at a broker. */
import { assertEquals } from "@std/assert";
import { RawClient } from "../support/raw_client.ts";
import type { InteropSite } from "./interop_site.ts";
import { type Delivery, Member } from "./java.ts";

const GET_MAX_OFFSET = 30;
const QUERY_CONSUMER_OFFSET = 14;
/** Of every topic of these tests. */
export const QUEUE_COUNT = 8;

/** Which client asks which name server. */
export interface Reader {
  group: string;
  driver: string;
  namesrv: string;
}

/** Starts one member of each group; more arguments are those of the driver's `member`. */
export async function startMembers(
  site: InteropSite,
  readers: Reader[],
  topics: string[],
  ...args: string[]
): Promise<Member[]> {
  return await Promise.all(readers.map((it) =>
    site.own(Promise.resolve(
      new Member(it.driver, [
        `namesrv=${it.namesrv}`,
        `topic=${topics}`,
        `group=${it.group}`,
        `instance=${it.group}`,
        ...args,
      ], site.folder),
    ))
  ));
}

/** The numbers in the keys `key123`, sorted. */
export function numbersOf(deliveries: Delivery[]): number[] {
  return deliveries.map((it) => Number(it.key.slice(3))).sort((a, b) => a - b);
}

/** `count` numbers from `from` on. */
export function numbers(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

/** Offsets of a topic's queues at one broker: what a group committed, and the ends. */
export async function positionsAt(
  address: string,
  group: string,
  topic: string,
): Promise<{ committed: number[]; ends: number[] }> {
  const client = await RawClient.open(address);
  const ask = async (code: number, fields: Record<string, string>) => {
    const answer = await client.invoke(code, { ...fields, topic });
    // 22: the group has committed nothing of this queue.
    return answer.code === 0 ? Number(answer.extFields.offset) : 0;
  };
  try {
    const committed: number[] = [];
    const ends: number[] = [];
    for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) {
      const queue = { queueId: String(queueId) };
      committed.push(
        await ask(QUERY_CONSUMER_OFFSET, { ...queue, consumerGroup: group }),
      );
      ends.push(await ask(GET_MAX_OFFSET, queue));
    }
    return { committed, ends };
  } finally {
    client.close();
  }
}

/**
 * Every group receives exactly these numbers, in any order; then its member commits and ends,
 * and has received nothing more.
 */
export async function consumeExactly(
  site: InteropSite,
  readers: Reader[],
  members: Member[],
  expected: number[],
  withinMs: number,
): Promise<void> {
  const faults = () =>
    members.flatMap((it, index) => {
      const { driver, group } = readers[index]!;
      return faultsOf(numbersOf(it.deliveries), expected)
        .map((fault) => `${group} (${driver}): ${fault}`);
    });
  try {
    await site.eventually(
      () => members.every((it) => it.deliveries.length >= expected.length),
      `${expected.length} messages for each group`,
      withinMs,
    );
  } catch (error) {
    throw new Error(`${error}; ${faults().join("; ")}`);
  }
  const codes = await Promise.all(members.map((it) => it.leave()));
  assertEquals(codes, members.map(() => 0));
  assertEquals(faults(), []);
}

/** What is missing, what came twice, and what was not expected at all. */
function faultsOf(received: number[], expected: number[]): string[] {
  const all = new Set(received);
  const wanted = new Set(expected);
  const faults: [string, number[]][] = [
    ["not delivered", expected.filter((it) => !all.has(it))],
    ["delivered twice", received.filter((it, at) => it === received[at - 1])],
    ["not expected", received.filter((it) => !wanted.has(it))],
  ];
  return faults.filter(([, found]) => found.length > 0).map(([what, found]) =>
    `${found.length} ${what} (${found.slice(0, 8)})`
  );
}

/** Every group has committed all there is of a topic, and not more. */
export async function assertAllCommitted(
  address: string,
  readers: Reader[],
  topic: string,
): Promise<void> {
  for (const { group } of readers) {
    const { committed, ends } = await positionsAt(address, group, topic);
    assertEquals(committed, ends, `${group} of ${topic} at ${address}`);
  }
}
