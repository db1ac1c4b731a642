/** A consumer lives through restarts of its master alone, and gets nothing twice (scenario 50). */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { DEFAULT_CLIENT_OPTIONS } from "../../src/client/client_options.ts";
import { Consumer } from "../../src/client/consumer.ts";
import { DEFAULT_CONSUMER_OPTIONS } from "../../src/client/consumer_options.ts";
import { MQClientInstance } from "../../src/client/mq_client_instance.ts";
import { runtime } from "../broker/broker_site.ts";
import { SimLogger } from "../sim/sim_logger.ts";
import {
  haOf,
  startBrokerProcess,
  withProcesses,
} from "../support/broker_process.ts";
import { eventually } from "../support/eventually.ts";
import { PocketMQProcess } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const QUEUES = 4;
const PATIENCE = { timeoutMs: 60_000 };
const COMMIT_INTERVAL_MS = 500;

/** Sends messages `from` to `to`; their numbers are their bodies. */
async function send(broker: PocketMQProcess, from: number, to: number) {
  const client = await RawClient.open(broker.address("broker"));
  for (let index = from; index < to; index++) {
    const body = new TextEncoder().encode(String(index));
    const { code } = await client.send("T", index % QUEUES, body);
    assertEquals(code, 0);
  }
  client.close();
}

/** Sum of the group's positions, as a broker itself has them. */
async function positions(broker: PocketMQProcess): Promise<number> {
  const client = await RawClient.open(broker.address("broker"));
  const { body } = await client.invoke(43);
  client.close();
  const text = new TextDecoder().decode(body);
  // Java's JSON has numbers as keys.
  const table = /"T@g":\{([^}]*)\}/.exec(text)?.[1] ?? "";
  return [...table.matchAll(/:(\d+)/g)]
    .reduce((sum, [, offset]) => sum + Number(offset), 0);
}

test("50: a restart of the master alone delivers nothing twice, stopped or killed", () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const namesrv = await keep(PocketMQProcess.start([
        "namesrv",
        "--bind",
        "127.0.0.1",
        "--set",
        "listenPort=0",
      ]));
      const namesrvAddr = `namesrvAddr=${namesrv.address("namesrv")}`;
      let master = await keep(startBrokerProcess(`${folder}/m`, namesrvAddr));
      const ports = [
        `listenPort=${master.port("broker")}`,
        `haListenPort=${master.port("ha")}`,
      ];
      const slave = await keep(startBrokerProcess(
        `${folder}/s`,
        namesrvAddr,
        "brokerRole=SLAVE",
        "brokerId=1",
      ));
      await send(master, 0, 200);
      const seen: string[] = [];
      const instance = new MQClientInstance(
        { ...runtime, logger: new SimLogger() },
        {
          ...DEFAULT_CLIENT_OPTIONS,
          namesrvAddr: namesrv.address("namesrv"),
          persistConsumerOffsetInterval: COMMIT_INTERVAL_MS,
        },
      );
      const consumer = new Consumer(instance, {
        ...DEFAULT_CONSUMER_OPTIONS,
        consumerGroup: "g",
        consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
        subscriptions: [{
          topic: "T",
          expression: "*",
          expressionType: "TAG",
        }],
      }, (messages) => {
        for (const it of messages) seen.push(new TextDecoder().decode(it.body));
      });
      await consumer.start();
      let sent = 200;
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        await eventually(() => seen.length >= sent, PATIENCE);
        // Whatever was committed for one interval is on the slave too.
        await eventually(async () => await positions(slave) === sent, PATIENCE);
        await master.stop(signal);
        master = await keep(
          startBrokerProcess(`${folder}/m`, namesrvAddr, ...ports),
        );
        await send(master, sent, sent + 50);
        sent += 50;
        await eventually(() => seen.length >= sent, PATIENCE);
        assertEquals(await positions(master) >= sent - 50, true);
      }
      await eventually(
        async () => (await haOf(slave)).state === "healthy",
        PATIENCE,
      );
      await eventually(async () => await positions(master) === sent, PATIENCE);
      assertEquals(seen.length, sent);
      assertEquals(new Set(seen).size, sent);
      await consumer.stop();
      await instance.stop();
    })
  ));
