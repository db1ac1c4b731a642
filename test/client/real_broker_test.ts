/** Producer, Consumer and MQAdmin against this project's own broker and name server, over real sockets. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { DEFAULT_CLIENT_OPTIONS } from "../../src/client/client_options.ts";
import { Consumer } from "../../src/client/consumer.ts";
import { DEFAULT_CONSUMER_OPTIONS } from "../../src/client/consumer_options.ts";
import { MQAdmin } from "../../src/client/mq_admin.ts";
import { MQClientError } from "../../src/client/mq_client_error.ts";
import { MQClientInstance } from "../../src/client/mq_client_instance.ts";
import {
  DEFAULT_PRODUCER_OPTIONS,
  Producer,
} from "../../src/client/producer.ts";
import type { TopicConfig } from "../../src/model/topic_config.ts";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import { NamesrvController } from "../../src/namesrv/namesrv_controller.ts";
import { DEFAULT_NAMESRV_OPTIONS } from "../../src/namesrv/namesrv_options.ts";
import { DEFAULT_REMOTING_SERVER_OPTIONS } from "../../src/remoting/remoting_options.ts";
import { runtime, startBroker } from "../broker/broker_site.ts";
import { SimLogger } from "../sim/sim_logger.ts";
import { eventually } from "../support/eventually.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { bytesOf, textOf } from "./sim_site.ts";

interface Site {
  readonly instance: MQClientInstance;
  readonly admin: MQAdmin;
  readonly producer: Producer;
  readonly brokerAddr: string;
  newInstance(): MQClientInstance;
  restartBroker(): Promise<void>;
}

/** Runs `use` with a name server, a broker and clients, and stops them. */
function withSite(use: (site: Site) => Promise<void>): Promise<void> {
  return withTempDirectory(async (folder) => {
    const logger = new SimLogger();
    const namesrv = new NamesrvController(
      {
        ...runtime,
        logger,
        openJsonFile: () => ({
          read: () => undefined,
          write: () => Promise.resolve(),
        }),
      },
      { ...DEFAULT_NAMESRV_OPTIONS, bindAddress: "127.0.0.1", listenPort: 0 },
      DEFAULT_REMOTING_SERVER_OPTIONS,
    );
    await namesrv.start();
    const namesrvAddr = `127.0.0.1:${namesrv.listener.port}`;
    let broker = await startBroker(folder, { namesrvAddr });
    await eventually(
      () => broker.controller.registration.states()[0]?.isRegistered,
      { message: "the name server knows the broker" },
    );
    const instances: MQClientInstance[] = [];
    const newInstance = () => {
      const it = new MQClientInstance(
        { ...runtime, logger },
        { ...DEFAULT_CLIENT_OPTIONS, namesrvAddr },
      );
      instances.push(it);
      return it;
    };
    const instance = newInstance();
    const producer = new Producer(instance, {
      ...DEFAULT_PRODUCER_OPTIONS,
      producerGroup: "p",
    });
    producer.start();
    const listenPort = Number(broker.address.split(":").at(-1));
    await use({
      instance,
      producer,
      admin: new MQAdmin(instance),
      brokerAddr: broker.address,
      newInstance,
      restartBroker: async () => {
        await broker.controller.stop();
        broker = await startBroker(folder, { namesrvAddr, listenPort });
      },
    });
    for (const it of instances) await it.stop();
    await broker.controller.stop();
    await namesrv.stop();
  });
}

function topicConfig(topicName: string, queueNums: number): TopicConfig {
  return {
    topicName,
    readQueueNums: queueNums,
    writeQueueNums: queueNums,
    perm: 6,
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: 0,
    order: false,
    attributes: {},
  };
}

const subscribe = (topic: string, expression = "*") => [
  { topic, expression, expressionType: "TAG" as const },
];

test("Producer and Consumer carry every message once, through a broker restart", () =>
  withSite(async ({ admin, producer, newInstance, restartBroker }) => {
    await admin.topics.create(topicConfig("T", 3), {});
    const seen: string[] = [];
    const consumer = new Consumer(newInstance(), {
      ...DEFAULT_CONSUMER_OPTIONS,
      consumerGroup: "g",
      consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
      subscriptions: subscribe("T", "Even || Batch"),
      pullTimeDelayMillsWhenException: 100,
    }, (messages) => void seen.push(...messages.map((it) => textOf(it.body))));
    const send = async (from: number, to: number) => {
      for (let index = from; index < to; index++) {
        const tags = index % 2 === 0 ? "Even" : "Odd";
        await producer.send({ topic: "T", body: bytesOf(`${index}`), tags });
      }
    };
    await send(0, 100);
    await consumer.start();
    await eventually(() => seen.length === 50);
    await producer.sendBatch(
      ["x", "y"].map((it) => ({
        topic: "T",
        body: bytesOf(it),
        tags: "Batch",
      })),
    );
    await producer.sendOneway({
      topic: "T",
      body: bytesOf("z"),
      tags: "Batch",
    });
    await eventually(() => seen.length === 53);
    await restartBroker();
    await send(100, 110);
    await eventually(() => seen.length >= 58);
    assertEquals(new Set(seen).size, 58);
    await consumer.stop();
    const progress = await admin.groups.progress("g");
    assertEquals(progress.totalDiff, 0);
    await admin.groups.resetOffset({
      group: "g",
      topic: "T",
      timestamp: 0,
      isForce: true,
    });
    assertEquals((await admin.groups.progress("g")).totalDiff, 113);
  }));

test("MQAdmin manages topics and groups, and finds messages", () =>
  withSite(async ({ admin, producer, brokerAddr, newInstance }) => {
    const target = { clusterName: "DefaultCluster" };
    assertEquals(await admin.topics.create(topicConfig("T", 2), target), [
      brokerAddr,
    ]);
    assert((await admin.topics.list()).includes("T"));
    const [onBroker] = await admin.topics.config("T");
    assertEquals(onBroker?.config, topicConfig("T", 2));
    const sent = await producer.send({
      topic: "T",
      body: bytesOf("hello"),
      keys: ["k1", "k2"],
    });
    const status = await admin.topics.status("T");
    assertEquals(status.map((it) => it.queue.queueId), [0, 1]);
    assertEquals(status.reduce((sum, it) => sum + it.maxOffset, 0), 1);
    const { messages } = admin;
    const all = { maxNum: 8, beginMs: 0, endMs: Date.now() + 1_000 };
    const found = await eventually(async () => {
      const byKey = await messages.byKey("T", "k2", all);
      return byKey.length > 0 ? byKey : undefined;
    });
    assertEquals(found!.map((it) => it.msgId), [sent.msgId]);
    for (const id of [sent.msgId, sent.offsetMsgId]) {
      assertEquals(textOf((await messages.view("T", id))!.body), "hello");
    }
    assertEquals(await messages.view("T", "0".repeat(32)), undefined);
    const at = await messages.atOffset(sent.queue, sent.queueOffset);
    assertEquals(at?.offsetMsgId, sent.offsetMsgId);
    assertEquals(await messages.atOffset(sent.queue, 99), undefined);

    await admin.groups.create(createSubscriptionGroupConfig("g"), target);
    assert((await admin.groups.list()).has("g"));
    assertEquals(await admin.groups.connections("g"), undefined);
    const consumer = new Consumer(newInstance(), {
      ...DEFAULT_CONSUMER_OPTIONS,
      consumerGroup: "g",
      subscriptions: subscribe("T"),
    }, () => {});
    await consumer.start();
    const members = await admin.groups.connections("g");
    assertEquals(members?.connectionSet.length, 1);
    assertEquals(await admin.groups.consumersOf("T"), ["g"]);
    await consumer.stop();
    await admin.groups.delete("g", target);
    assert(!(await admin.groups.list()).has("g"));

    await admin.topics.delete("T", target);
    assertEquals(await admin.topics.route("T"), undefined);
    await assertRejects(
      () => admin.topics.status("T"),
      MQClientError,
      "Topic T does not exist",
    );
  }));

test("MQAdmin shows the cluster and says which broker refuses what", () =>
  withSite(async ({ admin, brokerAddr }) => {
    const [row] = await admin.cluster.list();
    assertEquals([row?.brokerName, row?.brokerAddr, row?.error], [
      "broker-a",
      brokerAddr,
      null,
    ]);
    assert(row!.runtimeInfo.has("brokerVersionDesc"));
    assertEquals(
      (await admin.cluster.namesrvConfig()).get("orderMessageEnable"),
      "false",
    );
    await admin.cluster.updateNamesrvConfig(
      new Map([["orderMessageEnable", "true"]]),
    );
    assertEquals(
      (await admin.cluster.namesrvConfig()).get("orderMessageEnable"),
      "true",
    );
    await admin.cluster.putKV("n", "k", "v");
    assertEquals(await admin.cluster.getKV("n", "k"), "v");
    assertEquals([...await admin.cluster.listKV("n")], [["k", "v"]]);
    await admin.cluster.deleteKV("n", "k");
    assertEquals(await admin.cluster.getKV("n", "k"), undefined);
    assert(await admin.cluster.wipeWritePerm("broker-a") > 0);
    assert(await admin.cluster.addWritePerm("broker-a") > 0);
    const error = await assertRejects(
      () => admin.topics.create(topicConfig("a b", 1), { brokerAddr }),
      MQClientError,
      `${brokerAddr} refused UPDATE_AND_CREATE_TOPIC`,
    );
    assertEquals([error.code, error.address], [29, brokerAddr]);
    await assertRejects(
      () => admin.topics.create(topicConfig("T", 1), { clusterName: "Other" }),
      MQClientError,
      "No master broker is registered under Other",
    );
  }));
