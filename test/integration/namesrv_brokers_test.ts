/** Several brokers at one name server: topics that only some have, and one that moves. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  haOf,
  startBrokerProcess,
  withProcesses,
} from "../support/broker_process.ts";
import { eventually as within } from "../support/eventually.ts";
import { routeOf, startNamesrvProcess } from "../support/namesrv_process.ts";
import { PocketMQProcess, runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

/** Waits long enough for a machine that runs many tests at once. */
function eventually(condition: () => unknown): Promise<unknown> {
  return within(condition, { timeoutMs: 60_000 });
}

/** The names of the brokers that a topic is routed to. */
async function brokersOf(client: RawClient, topic: string): Promise<string> {
  const route = await routeOf(client, topic);
  return typeof route === "number"
    ? `code ${route}`
    : route.queueDatas.map((it) => it.brokerName).sort().join();
}

test("a topic of one broker is spread by `topic create` or the admin API, and deleted on one it stays at the other", () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const namesrv = await keep(startNamesrvProcess(folder));
      const namesrvAddr = namesrv.address("namesrv");
      const [a, b] = await Promise.all(["a", "b"].map((name) =>
        keep(
          startBrokerProcess(
            `${folder}/${name}`,
            `namesrvAddr=${namesrvAddr}`,
            `brokerName=${name}`,
            "brokerIP1=127.0.0.1",
          ),
        )
      ));
      const routes = await RawClient.open(namesrvAddr);
      const atA = await RawClient.open(a!.address("broker"));
      // The first send makes it where it went, and nowhere else, as in Apache.
      for (const topic of ["ByTool", "ByAdmin"]) {
        const sent = await atA.send(topic, 0, new Uint8Array(8));
        assertEquals(sent.code, 0);
        await eventually(async () => await brokersOf(routes, topic) === "a");
      }
      const made = await runPocketMQ([
        "topic",
        "create",
        "ByTool",
        "-n",
        namesrvAddr,
      ]);
      assertEquals(made.code, 0, made.stderr);
      const put = await fetch(
        `http://${b!.address("admin")}/admin/topics/ByAdmin`,
        {
          method: "PUT",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ readQueueNums: 4, writeQueueNums: 4 }),
        },
      );
      assert(put.ok, `${put.status} ${await put.text()}`);
      for (const topic of ["ByTool", "ByAdmin"]) {
        await eventually(async () => await brokersOf(routes, topic) === "a,b");
        // Deleted on one broker only: as by a tool that was killed before its second step.
        assertEquals((await atA.invoke(215, { topic })).code, 0);
        await eventually(async () => await brokersOf(routes, topic) === "b");
      }
      atA.close();
      routes.close();
    })
  ));

test("a master that comes back with another address is followed there, and nobody is told the old one", () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const namesrv = await keep(startNamesrvProcess(folder));
      const namesrvAddr = namesrv.address("namesrv");
      // The old one vanishes without a word: its name server goes on believing in it.
      const path = await TcpProxy.start(
        { host: "127.0.0.1", port: 0 },
        { host: "127.0.0.1", port: namesrv.port("namesrv") },
      );
      const master = (address: string, through: string) =>
        PocketMQProcess.start([
          "broker",
          "--store",
          `${folder}/master`,
          "--bind",
          address,
          "--listen-port",
          "0",
          "--admin-port",
          "0",
          "--namesrv",
          through,
          ...["mappedFileSizeCommitLog=1M", "maxMessageSize=64K"]
            .concat("brokerName=broker-a", `brokerIP1=${address}`)
            .flatMap((it) => ["--set", it]),
        ]);
      const before = await keep(master("127.0.0.1", path.address));
      const slave = await keep(
        startBrokerProcess(
          `${folder}/slave`,
          `namesrvAddr=${namesrvAddr}`,
          "brokerRole=SLAVE",
          "brokerId=1",
          "brokerIP1=127.0.0.1",
        ),
      );
      const masterAddr = async () =>
        (await haOf(slave)).haClientRuntimeInfo?.masterAddr;
      await eventually(async () => (await haOf(slave)).state === "healthy");
      path.blackhole();
      await before.stop("SIGKILL");
      const routes = await RawClient.open(namesrvAddr);
      assertEquals(await masterIn(routes), before.address("broker"));
      const after = await keep(master("127.0.0.2", namesrvAddr));
      assertEquals(await masterIn(routes), after.address("broker"));
      await eventually(
        async () => (await masterAddr())?.startsWith("127.0.0.2:"),
      );
      await eventually(async () => (await haOf(slave)).state === "healthy");
      routes.close();
      await path.stop();
    })
  ));

/** Address of broker-a's master, as the route tells it. */
async function masterIn(client: RawClient): Promise<string | undefined> {
  const route = await routeOf(client, "TBW102");
  if (typeof route === "number") return undefined;
  return route.brokerDatas[0]?.brokerAddrs.get(0);
}
