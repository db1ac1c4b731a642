/**
 * The bookkeeping of POP under random pops, acknowledgements, changed invisible times, stops,
 * kills and power cuts: each message that is not acknowledged returns, each that is does not.
 */
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { encodeBatchAckMessageRequestBody } from "../../../src/protocol/body/batch_ack_body.ts";
import { RequestCode } from "../../../src/protocol/request_code.ts";
import type { MessageStoreOptions } from "../../../src/store/store_options.ts";
import { type Popped } from "../../support/popped.ts";
import { GROUP, PopSite, TOPIC } from "./pop_site.ts";

/** So near to its time a handle may or may not count. */
const MARGIN_MS = 300;

interface Delivery {
  readonly popped: Popped;
  handle: string;
  dueMs: number;
}

/** What a consumer knows. */
class Consumer {
  readonly site: PopSite;
  /** Handles of all deliveries, also of those that are over. */
  readonly deliveries: Delivery[] = [];
  readonly settled = new Set<string>();
  /** Acknowledged when their time was just over, or almost. */
  readonly unsure = new Set<string>();
  sentCount = 0;
  /** Apache's promise counts for what is answered: under ASYNC_FLUSH a power cut takes the rest. */
  readonly store: Partial<MessageStoreOptions>;

  constructor(seed: number, readonly isSync: boolean) {
    this.site = new PopSite(seed);
    this.store = { flushDiskType: isSync ? "SYNC_FLUSH" : "ASYNC_FLUSH" };
  }

  async start(): Promise<void> {
    await this.site.start({}, this.store);
    this.site.createTopicAndGroup(3);
  }

  async send(count: number): Promise<void> {
    for (; count > 0; count--) {
      const text = `m${this.sentCount++}`;
      await this.site.send(text, { queueId: this.sentCount % 3 });
    }
  }

  async pop(maxMsgNums: number, invisibleMs: number): Promise<Popped[]> {
    const popped = await this.site.popped({
      maxMsgNums: String(maxMsgNums),
      invisibleTime: String(invisibleMs),
    });
    for (const it of popped) {
      assert(!this.settled.has(it.text), `${it.text} was acknowledged`);
      const popTime = Number(it.extraInfo.split(" ")[1]);
      this.deliveries.push({
        popped: it,
        handle: it.extraInfo,
        dueMs: popTime + invisibleMs,
      });
    }
    return popped;
  }

  /** Of any delivery, now or long ago, once or twice. */
  async ack(index: number, isBatch: boolean): Promise<void> {
    const delivery = this.#delivery(index);
    if (delivery === undefined) return;
    const { handle, popped } = delivery;
    const code = isBatch
      ? await this.#ackBatch(popped, handle)
      : await this.site.ack(popped, { extraInfo: handle });
    assertEquals(code, 0);
    if (this.#isCurrent(delivery)) this.settled.add(popped.text);
    else if (this.site.clock.nowMs() < delivery.dueMs + MARGIN_MS) {
      this.unsure.add(popped.text);
    }
  }

  async change(index: number, invisibleMs: number): Promise<void> {
    const delivery = this.#delivery(index);
    if (delivery === undefined) return;
    const { handle, popped } = delivery;
    const isCurrent = this.#isCurrent(delivery);
    const answer = await this.site.changeInvisibleTime(
      { ...popped, extraInfo: handle },
      invisibleMs,
    );
    if (answer.code !== 0) {
      assert(!isCurrent || this.settled.has(popped.text));
      return;
    }
    const { popTime, reviveQid } = answer.extFields;
    const [, , , , type, ...place] = handle.split(" ");
    delivery.handle =
      `${popped.offset} ${popTime} ${invisibleMs} ${reviveQid} ${type} ${
        place.join(" ")
      }`;
    delivery.dueMs = Number(popTime) + invisibleMs;
  }

  async end(how: "stop" | "kill" | "cut"): Promise<void> {
    if (how === "stop") await this.site.stop();
    else this.site.die(how === "cut" && this.isSync);
    await this.start();
  }

  #delivery(index: number): Delivery | undefined {
    return this.deliveries[index % Math.max(1, this.deliveries.length)];
  }

  #isCurrent(delivery: Delivery): boolean {
    return this.site.clock.nowMs() < delivery.dueMs - MARGIN_MS;
  }

  async #ackBatch(popped: Popped, handle: string): Promise<number> {
    const [startOffset, popTime, invisibleTime, reviveQueueId, retry] = handle
      .split(" ").map(Number);
    const body = encodeBatchAckMessageRequestBody({
      brokerName: "broker-a",
      acks: [{
        consumerGroup: GROUP,
        topic: TOPIC,
        retry: String(retry),
        startOffset: startOffset!,
        queueId: popped.queueId,
        reviveQueueId: reviveQueueId!,
        popTime: popTime!,
        invisibleTime: invisibleTime!,
        indexes: [popped.offset - startOffset!],
      }],
    });
    const { clock } = this.site;
    const answer = await clock.complete(
      this.site.call(RequestCode.BATCH_ACK_MESSAGE, {}, body),
    );
    return answer.code;
  }
}

const INVISIBLE_MS = fc.constantFrom(1_000, 3_000, 20_000);
const STEP = fc.oneof(
  fc.record({
    kind: fc.constant("send" as const),
    count: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({
    kind: fc.constant("pop" as const),
    count: fc.integer({ min: 1, max: 32 }),
    ms: INVISIBLE_MS,
  }),
  fc.record({
    kind: fc.constant("ack" as const),
    at: fc.nat(),
    isBatch: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("ack" as const),
    at: fc.nat(),
    isBatch: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("change" as const),
    at: fc.nat(),
    ms: INVISIBLE_MS,
  }),
  fc.record({
    kind: fc.constant("run" as const),
    ms: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({
    kind: fc.constant("end" as const),
    how: fc.constantFrom("stop" as const, "kill" as const, "cut" as const),
  }),
);

test("each unacknowledged message returns and each acknowledged one does not, over restarts", async () => {
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 1_000 }),
    fc.boolean(),
    fc.array(STEP, { minLength: 5, maxLength: 40 }),
    async (seed, isSync, steps) => {
      const consumer = new Consumer(seed, isSync);
      await consumer.start();
      await consumer.send(5);
      for (const step of steps) {
        if (step.kind === "send") await consumer.send(step.count);
        if (step.kind === "pop") await consumer.pop(step.count, step.ms);
        if (step.kind === "ack") await consumer.ack(step.at, step.isBatch);
        if (step.kind === "change") await consumer.change(step.at, step.ms);
        if (step.kind === "run") await consumer.site.run(100 * step.ms);
        if (step.kind === "end") await consumer.end(step.how);
      }
      await checkAllReturn(consumer);
    },
  );
  await fc.assert(property, { numRuns: 40 });
});

async function checkAllReturn(consumer: Consumer): Promise<void> {
  const { settled, site, unsure } = consumer;
  await site.run(22_000);
  const returned = new Set<string>();
  for (let round = 0; round < 3; round++) {
    for (;;) {
      const popped = await consumer.pop(32, 10_000);
      if (popped.length === 0) break;
      for (const it of popped) {
        returned.add(it.text);
        assertEquals(await site.ack(it), 0);
      }
    }
    await site.run(1_000);
  }
  const missing = Array.from(
    { length: consumer.sentCount },
    (_, index) => `m${index}`,
  ).filter((it) => !settled.has(it) && !unsure.has(it) && !returned.has(it));
  assertEquals(missing, []);
  assertEquals(site.pop.log.table.inFlightCount, 0);
}
