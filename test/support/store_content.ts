/** What the store tests write into a broker of either kind, and what was acknowledged of it. */
import { assertEquals } from "@std/assert";
import { encodeMessageBatch } from "../../src/model/message_batch.ts";
import {
  encodeProperties,
  MessageConst,
} from "../../src/model/message_properties.ts";
import { decodeMessageId } from "../../src/model/message_id.ts";
import type { RemotingCommand } from "../../src/protocol/remoting_command.ts";
import type { RawClient } from "./raw_client.ts";
import {
  DEALS,
  GROUP,
  numbered,
  type NumberedMessage,
  OTHER_GROUP,
  propertiesOf,
  type StoredMessage,
  TOPICS,
} from "./store_messages.ts";

const UPDATE_CONSUMER_OFFSET = 15;
const UPDATE_AND_CREATE_TOPIC = 17;
const END_TRANSACTION = 37;
const UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 200;
const SEND_BATCH_MESSAGE = 320;
const PREPARED = 4;
const COMMIT = 8;

const BATCH_SIZE = 8;
const IN_FLIGHT = 64;
/** Two hours: still waiting when the test is over. */
const DELAY_LEVEL = 18;

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Grows with every call; `copy` keeps a state. */
export class StoreContent {
  messages: StoredMessage[] = [];
  /** Sent, but not acknowledged when the broker was killed: each may be there or not. */
  uncertain: NumberedMessage[] = [];
  delayed: NumberedMessage | null = null;
  deal: NumberedMessage | null = null;
  /** `topic@group` → queueId → position. */
  positions: Record<string, Record<string, number>> = {};
  #next = 0;

  copy(): StoreContent {
    const copy = new StoreContent();
    copy.messages = [...this.messages];
    copy.uncertain = [...this.uncertain];
    copy.delayed = this.delayed;
    copy.deal = this.deal;
    copy.positions = structuredClone(this.positions);
    copy.#next = this.#next;
    return copy;
  }

  /** Creates the topics, one of them only to be read, and groups with settings. */
  async createTables(client: RawClient): Promise<void> {
    for (const { topic, queueNums } of TOPICS) {
      await this.#createTopic(client, topic, queueNums, 6);
    }
    await this.#createTopic(client, "ReadOnly", 3, 4);
    await this.#createTopic(client, DEALS, 1, 6);
    for (const [index, groupName] of [GROUP, OTHER_GROUP].entries()) {
      const config = {
        groupName,
        consumeEnable: true,
        consumeFromMinEnable: false,
        consumeBroadcastEnable: false,
        retryQueueNums: 1 + index,
        retryMaxTimes: 5,
        brokerId: 0,
        whichBrokerWhenConsumeSlowly: 1,
        notifyConsumerIdsChangedEnable: true,
      };
      const body = bytesOf(JSON.stringify(config));
      succeeded(
        await client.invoke(UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, body),
      );
    }
  }

  /** Sends messages one by one, many under way; every one must be acknowledged. */
  async send(client: RawClient, count: number): Promise<void> {
    const end = this.#next + count;
    const lane = async () => {
      while (this.#next < end) await this.#sendNext(client);
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  }

  /** Sends until the connection ends; at least `count` have been acknowledged when `reached` runs. */
  async sendUntilKilled(
    client: RawClient,
    count: number,
    reached: () => Promise<unknown>,
  ): Promise<void> {
    const enough = this.messages.length + count;
    let killing: Promise<unknown> | undefined;
    const lane = async () => {
      for (;;) {
        const message = numbered(this.#next);
        try {
          await this.#sendNext(client);
        } catch (error) {
          if (!/connection (was|has been) closed/.test(String(error))) {
            throw error;
          }
          this.uncertain.push(message);
          return;
        }
        if (this.messages.length >= enough) killing ??= reached();
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    await killing;
  }

  /** A batch (320): consecutive records of one queue. */
  async sendBatch(client: RawClient): Promise<void> {
    const [, { topic }] = TOPICS;
    const batch = Array.from({ length: BATCH_SIZE }, () => ({
      ...numbered(this.#next++),
      topic,
      queueId: 2,
    }));
    const body = encodeMessageBatch(batch.map((it) => ({
      flag: 0,
      body: bytesOf(it.body),
      propertiesText: encodeProperties(propertiesOf(it)),
    })));
    const answer = await client.invoke(
      SEND_BATCH_MESSAGE,
      { ...sendFields(topic, 2, ""), m: "true" },
      body,
    );
    succeeded(answer);
    const ids = answer.extFields.msgId!.split(",");
    assertEquals(ids.length, BATCH_SIZE);
    const first = Number(answer.extFields.queueOffset);
    batch.forEach((it, index) => this.#keep(it, first + index, ids[index]!));
  }

  /** A message that waits in the queue of its delay level. */
  async sendDelayed(client: RawClient): Promise<void> {
    const message = numbered(this.#next++);
    const properties = propertiesOf(message)
      .set(MessageConst.DELAY, String(DELAY_LEVEL));
    const text = encodeProperties(properties);
    const { topic, queueId, body } = message;
    succeeded(await client.send(topic, queueId, bytesOf(body), text));
    this.delayed = message;
  }

  /** A transaction that is committed: a half message, its end, and the message itself. */
  async sendTransaction(client: RawClient): Promise<void> {
    const message = { ...numbered(this.#next++), topic: DEALS, queueId: 0 };
    const producerGroup = "deal-producers";
    const properties = propertiesOf(message)
      .set(MessageConst.TRAN_MSG, "true")
      .set(MessageConst.PGROUP, producerGroup);
    const fields = sendFields(DEALS, 0, encodeProperties(properties));
    const half = await client.invoke(
      310,
      { ...fields, a: producerGroup, f: String(PREPARED) },
      bytesOf(message.body),
    );
    succeeded(half);
    const { msgId, queueOffset } = half.extFields;
    succeeded(
      await client.invoke(END_TRANSACTION, {
        producerGroup,
        topic: DEALS,
        tranStateTableOffset: queueOffset!,
        commitLogOffset: String(decodeMessageId(msgId!)!.phyOffset),
        commitOrRollback: String(COMMIT),
        fromTransactionCheck: "false",
        msgId: message.uniqKey,
        transactionId: message.uniqKey,
      }),
    );
    this.deal = message;
  }

  /** Commits positions of two groups, a different one for every queue. */
  async commit(client: RawClient): Promise<void> {
    for (const group of [GROUP, OTHER_GROUP]) {
      for (const { topic, queueNums } of TOPICS) {
        const table = this.positions[`${topic}@${group}`] ??= {};
        for (let queueId = 0; queueId < queueNums; queueId++) {
          const offset = Math.min(queueId + group.length, 19);
          const stored = this.endOf(topic, queueId);
          table[queueId] = Math.min(offset, stored);
          succeeded(
            await client.invoke(UPDATE_CONSUMER_OFFSET, {
              consumerGroup: group,
              topic,
              queueId: String(queueId),
              commitOffset: String(table[queueId]),
            }),
          );
        }
      }
    }
  }

  /** One behind the last acknowledged message of a queue. */
  endOf(topic: string, queueId: number): number {
    return this.of(topic, queueId).reduce(
      (end, it) => Math.max(end, it.queueOffset + 1),
      0,
    );
  }

  of(topic: string, queueId: number): StoredMessage[] {
    return this.messages.filter((it) =>
      it.topic === topic && it.queueId === queueId
    );
  }

  async #sendNext(client: RawClient): Promise<void> {
    const message = numbered(this.#next++);
    const answer = await client.send(
      message.topic,
      message.queueId,
      bytesOf(message.body),
      encodeProperties(propertiesOf(message)),
    );
    succeeded(answer);
    const { queueOffset, msgId } = answer.extFields;
    this.#keep(message, Number(queueOffset), msgId!);
  }

  #keep(message: NumberedMessage, queueOffset: number, msgId: string): void {
    const { phyOffset } = decodeMessageId(msgId)!;
    this.messages.push({ ...message, queueOffset, msgId, phyOffset });
  }

  async #createTopic(
    client: RawClient,
    topic: string,
    queueNums: number,
    perm: number,
  ): Promise<void> {
    succeeded(
      await client.invoke(UPDATE_AND_CREATE_TOPIC, {
        topic,
        defaultTopic: "TBW102",
        readQueueNums: String(queueNums),
        writeQueueNums: String(queueNums),
        perm: String(perm),
        topicFilterType: "SINGLE_TAG",
        topicSysFlag: "0",
        order: "false",
      }),
    );
  }
}

function sendFields(
  topic: string,
  queueId: number,
  properties: string,
): Record<string, string> {
  return {
    a: "store-producers",
    b: topic,
    c: "TBW102",
    d: "8",
    e: String(queueId),
    f: "0",
    g: "1700000000000",
    h: "0",
    i: properties,
    j: "0",
    k: "false",
    m: "false",
  };
}

function succeeded(answer: RemotingCommand): void {
  assertEquals(answer.code, 0, answer.remark ?? undefined);
}
