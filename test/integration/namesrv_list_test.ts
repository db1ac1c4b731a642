/** What a broker tells name servers, and which: changed while it runs, and by every door. */
import { assert, assertEquals } from "@std/assert";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { withProcesses } from "../support/broker_process.ts";
import { eventually as within } from "../support/eventually.ts";
import {
  routeOf,
  RouteWatch,
  startNamesrvProcess,
} from "../support/namesrv_process.ts";
import { PocketMQProcess } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withSite } from "../support/site.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

/** Waits long enough for a machine that runs many tests at once. */
function eventually(condition: () => unknown): Promise<unknown> {
  return within(condition, { timeoutMs: 60_000 });
}

/** A broker of a configuration file, with whatever else it is told. */
function startConfigured(
  folder: string,
  name: string,
  conf: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<PocketMQProcess> {
  const file = `${folder}/${name}.conf`;
  writeFileSync(file, `brokerName=${name}\nlistenPort=0\nadminPort=0\n${conf}`);
  return PocketMQProcess.start([
    "broker",
    "-c",
    file,
    "--store",
    `${folder}/${name}`,
    "--bind",
    "127.0.0.1",
    "--set",
    "mappedFileSizeCommitLog=1M",
    "--set",
    "maxMessageSize=64K",
    ...args,
  ], env);
}

/** Changes one key of a running broker. */
async function patch(admin: string, key: string, value: string): Promise<void> {
  const answer = await fetch(`http://${admin}/admin/config`, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ [key]: value }),
  });
  const change = await answer.json();
  assertEquals(change.changed, [key], JSON.stringify(change));
}

/** The addresses of a broker name's masters at a name server. */
async function masterOf(
  namesrv: RawClient,
  topic: string,
  brokerName: string,
): Promise<string | undefined> {
  const route = await routeOf(namesrv, topic);
  if (typeof route === "number") return undefined;
  return route.brokerDatas.find((it) => it.brokerName === brokerName)
    ?.brokerAddrs.get(0);
}

test("a broker comes to a name server that is added, and leaves one that is removed, without a restart", () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const [a, b] = [
        await keep(startNamesrvProcess(`${folder}/a`)),
        await keep(startNamesrvProcess(`${folder}/b`)),
      ].map((it) => it.address("namesrv"));
      const settings = "brokerIP1=127.0.0.1\n";
      const broker = await keep(
        startConfigured(folder, "broker-a", `${settings}namesrvAddr=${a}\n`),
      );
      const [atA, atB] = [await RawClient.open(a!), await RawClient.open(b!)];
      assertEquals(await routeOf(atB, "TBW102"), 1);
      await patch(broker.address("admin"), "namesrvAddr", `${a};${b}`);
      await eventually(async () =>
        typeof await routeOf(atB, "TBW102") !== "number"
      );
      const watch = await RouteWatch.start(b!, "TBW102");
      // The file's owner takes the first one out and has the file read again.
      writeFileSync(
        `${folder}/broker-a.conf`,
        `brokerName=broker-a\nlistenPort=0\nadminPort=0\n${settings}namesrvAddr=${b}\n`,
      );
      broker.stop("SIGHUP");
      await eventually(async () => await routeOf(atA, "TBW102") === 17);
      const orphan = await atA.invoke(105, { topic: "TBW102" });
      assert(orphan.remark!.includes("not ready"), orphan.remark!);
      await watch.stop();
      assertEquals(watch.missing, []);
      atA.close();
      atB.close();
    })
  ));

test("standalone keeps its own name server whatever the list is changed to", () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const other = await keep(startNamesrvProcess(folder));
      await withSite(async (site) => {
        const watch = await RouteWatch.start(site.namesrv, "TBW102");
        const there = await RawClient.open(other.address("namesrv"));
        const admin = site.server.address("admin");
        await patch(admin, "namesrvAddr", other.address("namesrv"));
        await eventually(async () =>
          typeof await routeOf(there, "TBW102") !== "number"
        );
        await patch(admin, "namesrvAddr", "");
        await eventually(async () => await routeOf(there, "TBW102") === 17);
        await watch.stop();
        assertEquals(watch.missing, []);
        there.close();
      });
    })
  ));

test("the advertised address is the flag's, else the environment's, else the file's, as it was written", () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const namesrv = await keep(startNamesrvProcess(folder));
      const conf = `namesrvAddr=${namesrv.address("namesrv")}\n` +
        "brokerIP1=127.0.0.3\n";
      const env = { POCKETMQ_BROKER_IP1: "127.0.0.4" };
      const flag = ["--set", "brokerIP1=localhost"];
      const started = await Promise.all([
        keep(startConfigured(folder, "by-file", conf)),
        keep(startConfigured(folder, "by-env", conf, [], env)),
        keep(startConfigured(folder, "by-flag", conf, flag, env)),
      ]);
      const client = await RawClient.open(namesrv.address("namesrv"));
      const hosts = ["127.0.0.3", "127.0.0.4", "localhost"];
      for (const [index, name] of ["by-file", "by-env", "by-flag"].entries()) {
        const broker = started[index]!;
        const advertised = `${hosts[index]}:${broker.port("broker")}`;
        await eventually(async () =>
          await masterOf(client, "TBW102", name) === advertised
        );
        assertEquals(
          broker.ready.listeners.find((it) => it.name === "broker")?.advertised,
          advertised,
        );
      }
      client.close();
    })
  ));
