/** Sentences of the tools: one, with what to do, whatever listens at the address. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { encodeRegisterBrokerBody } from "../../src/protocol/body/register_broker_body.ts";
import { encodeRegisterBrokerRequestHeader } from "../../src/protocol/header/register_broker_header.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { type Site, withSite } from "../support/site.ts";

const TOPIC = "Twice";

/** A second broker of the topic, as far as the name server knows. */
async function registerBrokerB(site: Site): Promise<RawClient> {
  const client = await RawClient.open(site.namesrv);
  const queues = { readQueueNums: 1, writeQueueNums: 1, perm: 6 };
  const config = {
    topicFilterType: "SINGLE_TAG" as const,
    topicSysFlag: 0,
    order: false,
    attributes: {},
    ...queues,
  };
  const answer = await client.invoke(
    RequestCode.REGISTER_BROKER,
    encodeRegisterBrokerRequestHeader({
      brokerName: "broker-b",
      brokerAddr: "127.0.0.1:1",
      clusterName: "DefaultCluster",
      haServerAddr: "",
      brokerId: 0,
      compressed: false,
      bodyCrc32: 0,
      heartbeatTimeoutMillis: undefined,
      enableActingMaster: undefined,
      zoneName: undefined,
    }),
    encodeRegisterBrokerBody({
      filterServerList: [],
      topicConfigSerializeWrapper: {
        dataVersion: { stateVersion: 0, timestamp: 1, counter: 1 },
        topicConfigTable: new Map(
          [TOPIC, "Other"].map((it) => [it, { topicName: it, ...config }]),
        ),
      },
    }),
  );
  assertEquals([answer.code, answer.remark], [0, null]);
  return client;
}

test("A tool says in one sentence what is wrong with an address, and what to do", async () => {
  await withSite(async (site) => {
    const { host } = new URL(site.admin);
    for (
      const [args, sentences] of [
        [["topic", "list", "-n", host], [
          "it speaks HTTP, not the remoting protocol",
          "start one there, or name another",
        ]],
        [["cluster", "list", "-n", site.broker], [
          "REQUEST_CODE_NOT_SUPPORTED (3)",
          "give the address of a name server",
        ]],
        [["topic", "list", "-n", "127.0.0.1:1"], [
          "connection refused; start one there, or name another",
        ]],
      ] as const
    ) {
      const { code, stdout, stderr } = await runPocketMQ([...args]);
      assertEquals([code, stdout], [1, ""]);
      const lines = stderr.trim().split("\n");
      assertEquals(lines.length, 1, stderr);
      for (const it of sentences) assert(stderr.includes(it), stderr);
    }
  });
});

test("message at wants a broker where several have the topic, as usage", async () => {
  await withSite(async (site) => {
    await site.createTopic(TOPIC);
    const client = await registerBrokerB(site);
    const place = ["--queue", "0", "--offset", "0"];
    const at = await site.run("message", "at", TOPIC, ...place);
    assertEquals(at.code, 2, at.stderr);
    assert(/give --broker \S+\|\S+\n$/.test(at.stderr), at.stderr);
    client.close();
  });
});

test("A message id beyond what a log can hold is shown as it was asked for", async () => {
  await withSite(async (site) => {
    const client = await RawClient.open(site.broker);
    for (const offset of ["9223372036854775807", "9007199254740993"]) {
      const answer = await client.invoke(RequestCode.VIEW_MESSAGE_BY_ID, {
        offset,
      });
      assertEquals([answer.code, answer.remark], [
        1,
        `can not find message by the offset, ${offset}`,
      ]);
    }
    client.close();
  });
});
