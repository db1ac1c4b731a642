import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { callConsumerProcessors } from "../../src/broker/processor/call_consumer_processor.ts";
import { encodeMessageId } from "../../src/model/message_id.ts";
import { parseSocketAddress } from "../../src/model/socket_address.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import {
  RemotingClosedError,
  RemotingTimeoutError,
} from "../../src/remoting/remoting_errors.ts";
import { topicOf } from "./fakes.ts";
import {
  ask,
  bodyText,
  ManagerRig,
  RecordingConnection,
} from "./manager_rig.ts";

type Answer = (request: RemotingCommand) => RemotingCommand | Error;

/** A member that answers as it is told; `asked` keeps the requests. */
class AnsweringConnection extends RecordingConnection {
  readonly asked: { request: RemotingCommand; timeoutMs: number }[] = [];
  constructor(readonly answer: Answer) {
    super();
  }
  override invoke(
    request?: RemotingCommand,
    timeoutMs?: number,
  ): Promise<RemotingCommand> {
    this.asked.push({ request: request!, timeoutMs: timeoutMs! });
    const answer = this.answer(request!);
    return answer instanceof Error
      ? Promise.reject(answer)
      : Promise.resolve(answer);
  }
}

const RECORD = new Uint8Array([1, 2, 3]);
const HOST = parseSocketAddress("10.0.0.5:10911")!;

function open() {
  const rig = new ManagerRig();
  const table = callConsumerProcessors({
    ...rig,
    messageStore: {
      selectOneMessageByOffset: (phyOffset) =>
        Promise.resolve(phyOffset === 700 ? RECORD : undefined),
    },
  });
  const join = (clientId: string, answer: Answer, version = 401) => {
    const connection = new AnsweringConnection(answer);
    rig.consumerManager.registerConsumer(
      {
        clientId,
        language: "JAVA",
        version,
        connection,
        lastUpdateTimestamp: 5,
        lastUpdateMs: 5,
      },
      {
        groupName: "g",
        consumeType: "CONSUME_PASSIVELY",
        messageModel: "CLUSTERING",
        consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
        subscriptionDataSet: [],
        unitMode: false,
      },
      { isNotifyEnabled: false, withoutSub: false, fingerprint: 0 },
    );
    return connection;
  };
  const running = (clientId: string) =>
    ask(table, RequestCode.GET_CONSUMER_RUNNING_INFO, {
      consumerGroup: "g",
      clientId,
      jstackEnable: "true",
    });
  return { rig, table, join, running };
}

test("307 asks the member and hands its answer on unchanged", async () => {
  const { join, running } = open();
  const member = join(
    "c1",
    () => createResponse(0, "fine", { a: "b" }, RECORD),
  );
  const answer = await running("c1");
  assertEquals(
    [answer.code, answer.remark, answer.extFields, answer.body],
    [0, "fine", { a: "b" }, RECORD],
  );
  const [call] = member.asked;
  assertEquals([call!.request.code, call!.timeoutMs], [307, 10_000]);
  assertEquals(call!.request.extFields, {
    consumerGroup: "g",
    clientId: "c1",
    jstackEnable: "true",
  });
});

test("307 says why there is no answer", async () => {
  const { join, running } = open();
  const outcome = async (clientId: string) => {
    const { code, remark } = await running(clientId);
    return [code, remark];
  };
  assertEquals(await outcome("no"), [1, "The Consumer <g> <no> not online"]);
  join("old", () => new Error("never asked"), 61);
  assertEquals(await outcome("old"), [
    1,
    "The Consumer <old> Version <61> too low to finish, please upgrade it to V3_1_8_SNAPSHOT",
  ]);
  join("slow", () => new RemotingTimeoutError("10.0.0.1:50000", 307, 10_000));
  assertEquals(await outcome("slow"), [
    207,
    "consumer <g> <slow> Timeout: No answer from 10.0.0.1:50000 to " +
    "GET_CONSUMER_RUNNING_INFO within 10000 ms",
  ]);
  join("gone", () => new RemotingClosedError("10.0.0.1:50000", 307));
  assertEquals(await outcome("gone"), [
    1,
    "invoke consumer <g> <gone> Exception: The connection to 10.0.0.1:50000 " +
    "was closed before it answered GET_CONSUMER_RUNNING_INFO",
  ]);
});

test("309 hands the record of an offset message id to the member", async () => {
  const { rig, table, join } = open();
  rig.topicConfigManager.updateTopicConfigs([
    topicOf("T", { topicSysFlag: 2 }),
  ]);
  rig.subscriptionGroupManager.findSubscriptionGroupConfig("g");
  const member = join("c1", () => createResponse(0, null, {}, RECORD));
  const consume = (msgId: string) =>
    ask(table, RequestCode.CONSUME_MESSAGE_DIRECTLY, {
      consumerGroup: "g",
      clientId: "c1",
      topic: "T",
      msgId,
    });
  const id = encodeMessageId(HOST, 700);
  assertEquals((await consume(id)).code, 0);
  const [call] = member.asked;
  assertEquals([call!.request.code, call!.request.body], [309, RECORD]);
  assertEquals(call!.request.extFields, {
    consumerGroup: "g",
    clientId: "c1",
    topic: "T",
    msgId: id,
    brokerName: "broker-a",
    topicSysFlag: "2",
    groupSysFlag: "0",
  });
  const missing = await consume(encodeMessageId(HOST, 701));
  assertEquals(
    [missing.code, missing.remark],
    [1, "can not find message by the offset, 701"],
  );
  const junk = await consume("junk");
  assertEquals(
    [junk.code, junk.remark],
    [1, "The msgId junk is no offset message id"],
  );
  assertEquals(member.asked.length, 1);
});

test("223 gathers where the members stand, without those that do not answer", async () => {
  const { rig, table, join } = open();
  const status = (fields: Record<string, string> = {}) =>
    ask(table, RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, {
      topic: "T",
      group: "g",
      ...fields,
    });
  const none = await status();
  assertEquals(
    [none.code, none.remark],
    [1, "No Any Consumer online in the consumer group: [g]"],
  );
  // As Java writes it: object keys.
  const body = new TextEncoder().encode(
    '{"messageQueueTable":{{"brokerName":"broker-a","queueId":1,"topic":"T"}:12}}',
  );
  const member = join("c1", () => createResponse(0, null, {}, body));
  const silent = join("c2", () => new Error("no answer"));
  assertEquals(
    bodyText(await status()),
    '{"consumerTable":{"c1":{{"brokerName":"broker-a","queueId":1,"topic":"T"}:12}},' +
      '"messageQueueTable":{}}',
  );
  assertEquals(member.asked[0]!.request.extFields, { topic: "T", group: "g" });
  assertEquals(member.asked[0]!.request.code, 221);
  assertEquals(
    rig.logger.lines.filter((it) => it.startsWith("warn")).length,
    1,
  );
  await status({ clientAddr: "c1" });
  assertEquals([member.asked.length, silent.asked.length], [2, 1]);
  join("c3", () => createResponse(0), 27);
  assertEquals((await status()).code, 1);
});
