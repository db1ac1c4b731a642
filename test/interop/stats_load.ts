/** The same requests to any broker, one after the other: what its statistics then show is known. */
import { assertEquals } from "@std/assert";
import { buildSubscriptionData } from "../../src/model/filter_api.ts";
import { encodeMessageBatch } from "../../src/model/message_batch.ts";
import { decodeMessageId } from "../../src/model/message_id.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import { encodeHeartbeatData } from "../../src/protocol/body/heartbeat_body.ts";
import { encodeSubscriptionGroupConfig } from "../../src/protocol/body/subscription_group_config_body.ts";
import type { RemotingCommand } from "../../src/protocol/remoting_command.ts";
import { RawClient } from "../support/raw_client.ts";

export const TOPIC = "StatsTopic";
export const GROUP = "stats-group";
const QUEUES = 4;

/** A wait until something is so. */
export type Eventually = (
  condition: () => boolean | Promise<boolean>,
  what: string,
) => Promise<void>;

/** Codes of the load, less those that a waiting client repeats. */
export const LOAD_CODES = [
  "send_message_v2",
  "send_batch_message",
  "pull_message",
  "query_consumer_offset",
  "update_consumer_offset",
  "consumer_send_msg_back",
  "end_transaction",
  "heart_beat",
  "update_and_create_topic",
  "update_and_create_subscriptiongroup",
];

/** Sends, reads, commits and gives up; resolves with the connection, whose clients stay known. */
export async function statsLoad(
  address: string,
  eventually: Eventually,
): Promise<RawClient> {
  const client = await RawClient.open(address);
  const ok = async (answer: Promise<RemotingCommand>) => {
    const { code, remark } = await answer;
    assertEquals(code, 0, `${address}: ${remark}`);
  };
  await ok(createTopic(client, TOPIC));
  // No name of a topic: the attempt counts as a failure.
  await createTopic(client, "no topic!");
  await ok(
    client.invoke(
      200,
      {},
      encodeSubscriptionGroupConfig(createSubscriptionGroupConfig(GROUP)),
    ),
  );
  await ok(heartbeat(client));
  await sends(client, ok);
  await eventually(
    async () => await maxOffset(client, 0) === 5,
    "the messages in their queue",
  );
  await reads(client, ok);
  return client;
}

function createTopic(
  client: RawClient,
  topic: string,
): Promise<RemotingCommand> {
  return client.invoke(17, {
    topic,
    defaultTopic: "TBW102",
    readQueueNums: String(QUEUES),
    writeQueueNums: String(QUEUES),
    perm: "6",
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: "0",
    order: "false",
  });
}

function heartbeat(client: RawClient): Promise<RemotingCommand> {
  return client.invoke(
    34,
    {},
    encodeHeartbeatData({
      clientID: "stats-client",
      producerDataSet: [{ groupName: "stats-producers" }],
      consumerDataSet: [{
        groupName: GROUP,
        consumeType: "CONSUME_PASSIVELY",
        messageModel: "CLUSTERING",
        consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
        subscriptionDataSet: [buildSubscriptionData(TOPIC, "*", "TAG", 1)],
        unitMode: false,
      }],
      heartbeatFingerprint: 0,
      withoutSub: false,
    }),
  );
}

const body = (size: number) => new Uint8Array(size).fill(97);
const key = (number: number) => `UNIQ_KEY\u0001stats${number}\u0002`;
/** With what 5.x adds to messages that are sent alone: so both store the same bytes. */
const properties = (number: number) =>
  `MSG_REGION\u0001DefaultRegion\u0002${key(number)}TRACE_ON\u0001true\u0002`;

/** Queue 0 gets three messages of 1 KiB and a batch of two small ones, each other queue one. */
async function sends(
  client: RawClient,
  ok: (answer: Promise<RemotingCommand>) => Promise<void>,
): Promise<void> {
  for (let n = 0; n < 3; n++) {
    await ok(client.send(TOPIC, 0, body(1_024), properties(n)));
  }
  const sharded = `${properties(3)}__SHARDINGKEY\u0001s\u0002`;
  await ok(client.send(TOPIC, 1, body(10), sharded));
  await ok(client.send(TOPIC, 2, body(5_000), properties(4)));
  await ok(client.send(TOPIC, 3, body(1), properties(5)));
  const batch = encodeMessageBatch(
    [6, 7].map((n) => ({ flag: 0, body: body(20), propertiesText: key(n) })),
  );
  await ok(client.invoke(320, {
    a: "raw-producers",
    b: TOPIC,
    c: "TBW102",
    d: "8",
    e: "0",
    f: "0",
    g: "1700000000000",
    h: "0",
    i: "",
    j: "0",
    k: "false",
    m: "true",
  }, batch));
}

async function maxOffset(client: RawClient, queueId: number): Promise<number> {
  const answer = await client.invoke(30, {
    topic: TOPIC,
    queueId: String(queueId),
  });
  return Number(answer.extFields["offset"]);
}

/** Reads queue 0, confirms two of its messages and all others, and gives up the first. */
async function reads(
  client: RawClient,
  ok: (answer: Promise<RemotingCommand>) => Promise<void>,
): Promise<void> {
  const found = await client.pull(GROUP, TOPIC, 0, 0);
  assertEquals([found.code, found.remark], [0, "FOUND"]);
  const { buffer, byteOffset } = found.body;
  const size = new DataView(buffer, byteOffset).getInt32(0);
  const first = decodeMessageRecord(found.body.subarray(0, size));
  assertEquals((await client.pull(GROUP, TOPIC, 0, 5)).code, 19);
  const queue = { consumerGroup: GROUP, topic: TOPIC, queueId: "0" };
  await ok(client.invoke(15, { ...queue, commitOffset: "2" }));
  for (const queueId of ["1", "2", "3"]) {
    await ok(client.invoke(15, { ...queue, queueId, commitOffset: "1" }));
  }
  await ok(client.invoke(14, queue));
  await ok(client.invoke(36, {
    offset: String(first.phyOffset),
    group: GROUP,
    delayLevel: "-1",
    originMsgId: "",
    originTopic: TOPIC,
    unitMode: "false",
    maxReconsumeTimes: "16",
  }));
}

/** One transaction is committed to queue 3, and one rolled back. */
export async function transactions(
  client: RawClient,
  eventually: Eventually,
): Promise<void> {
  for (const [number, commitOrRollback] of [[10, "8"], [11, "12"]] as const) {
    const half = await client.send(
      TOPIC,
      3,
      body(7),
      `${properties(number)}TRAN_MSG\u0001true\u0002PGROUP\u0001P\u0002`,
    );
    assertEquals(half.code, 0, `${half.remark}`);
    const { msgId = "", queueOffset = "" } = half.extFields;
    const ended = await client.invoke(37, {
      topic: TOPIC,
      producerGroup: "P",
      tranStateTableOffset: queueOffset,
      commitLogOffset: String(decodeMessageId(msgId)!.phyOffset),
      commitOrRollback,
      fromTransactionCheck: "false",
      msgId: `stats${number}`,
      transactionId: `stats${number}`,
    });
    assertEquals(ended.code, 0, `${ended.remark}`);
  }
  await eventually(
    async () => await maxOffset(client, 3) === 2,
    "the committed message in its queue",
  );
}
