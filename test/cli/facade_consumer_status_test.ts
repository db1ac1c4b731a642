import { assertEquals } from "@std/assert";
import { test } from "node:test";
import type { BrokerController } from "../../src/broker/broker_controller.ts";
import type { ClientChannelInfo } from "../../src/broker/client_channel_info.ts";
import { consumerStatus } from "../../src/cli/facade_consumer_status.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { fakeConnection } from "../broker/fakes.ts";

const INFO = '{"mqTable":{{"brokerName":"b","queueId":0,"topic":"T"}:' +
  '{"cachedMsgCount":1}},"statusTable":{"T":{"consumeFailedMsgs":7,' +
  '"consumeFailedTPS":0.5,"consumeOKTPS":12.25,"consumeRT":3.5,"pullRT":1.5,' +
  '"pullTPS":12.5}}}';

function site(
  answers: Record<
    string,
    (request: RemotingCommand) => Promise<RemotingCommand>
  >,
) {
  const clients = new Map<string, ClientChannelInfo>();
  for (const [clientId, invoke] of Object.entries(answers)) {
    clients.set(clientId, {
      clientId,
      language: "JAVA",
      version: 513,
      connection: { ...fakeConnection(), invoke },
      lastUpdateTimestamp: 0,
      lastUpdateMs: 0,
    });
  }
  const consumerManager = {
    groupNames: () => ["g"],
    getConsumerGroupInfo: () => ({ clients }),
  };
  return { parts: { consumerManager } } as unknown as BrokerController;
}

const says = (text: string, code = 0) =>
  Promise.resolve(
    createResponse(code, null, {}, new TextEncoder().encode(text)),
  );

test("consumerStatus() shows what consumers answer, and leaves out who does not", async () => {
  const asked: unknown[] = [];
  const rows = await consumerStatus(site({
    good: ({ code, extFields }) => {
      asked.push([code, extFields]);
      return says(INFO);
    },
    silent: () => Promise.reject(new Error("time-out")),
    refusing: () => says("", 1),
    junk: () => says("{"),
    empty: () => says("{}"),
  }));
  assertEquals(rows, [{
    address: "127.0.0.1:40001",
    clientId: "good",
    group: "g",
    topic: "T",
    pullRT: 1.5,
    pullTPS: 12.5,
    consumeRT: 3.5,
    consumeOKTPS: 12.25,
    consumeFailedTPS: 0.5,
    consumeFailedMsgs: 7,
  }]);
  assertEquals(asked, [[307, {
    consumerGroup: "g",
    clientId: "good",
    jstackEnable: "false",
  }]]);
});

test("consumerStatus() asks a hundred consumers, not all", async () => {
  let asked = 0;
  const answers = Object.fromEntries(
    Array.from({ length: 150 }, (_, n) => [`c${n}`, () => {
      asked++;
      return says("{}");
    }]),
  );
  assertEquals(await consumerStatus(site(answers)), []);
  assertEquals(asked, 100);
});
