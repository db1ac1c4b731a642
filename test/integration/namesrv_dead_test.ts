/** Two name servers of which one is dead: neither sends nor starts may feel it. */
import { assert, assertEquals } from "@std/assert";
import { createServer } from "node:net";
import { test } from "node:test";
import { Latencies } from "../bench/latencies.ts";
import {
  startBrokerProcess,
  withProcesses,
} from "../support/broker_process.ts";
import { startNamesrvProcess } from "../support/namesrv_process.ts";
import {
  type PocketMQProcess,
  runPocketMQ,
} from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

/** A start may be so much later with one of two name servers dead. */
const LATER_MS = 2_000;
const STARTS = 2;
const SENDS = 200;
const ROUNDS = 15;
/** Long enough for several attempts at the dead one. */
const LOAD_MS = 4_000;
/** Below that a ratio of two latencies says nothing. */
const NOISE_MS = 1;

test("with one of two name servers dead a start is 2 s later at most and the p99 of sends doubles at most", () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const live = await keep(startNamesrvProcess(`${folder}/live`));
      const second = await keep(startNamesrvProcess(`${folder}/second`));
      const silent = await TcpProxy.start(
        { host: "127.0.0.1", port: 0 },
        { host: "127.0.0.1", port: second.port("namesrv") },
      );
      silent.blackhole();
      const namesrvs: Record<string, string> = {
        living: second.address("namesrv"),
        refusing: await refusingAddress(),
        silent: silent.address,
      };
      const first = live.address("namesrv");
      const brokers = new Map<string, PocketMQProcess>();
      const startMs = new Map<string, number>();
      for (let round = 0; round < STARTS; round++) {
        for (const [kind, namesrv] of Object.entries(namesrvs)) {
          await brokers.get(kind)?.stop("SIGKILL");
          const broker = await keep(
            startBrokerProcess(
              `${folder}/${kind}`,
              `namesrvAddr=${namesrv};${first}`,
              `brokerName=${kind}`,
              "brokerIP1=127.0.0.1",
            ),
          );
          brokers.set(kind, broker);
          const before = startMs.get(kind) ?? Infinity;
          startMs.set(kind, Math.min(before, broker.ready.ms));
        }
      }
      const p99 = await interleavedP99(brokers);
      const produceMs = new Map<string, number>();
      for (const [kind, namesrv] of Object.entries(namesrvs)) {
        produceMs.set(kind, await msToProduce(`${namesrv};${first}`));
      }
      await silent.stop();
      for (const kind of ["refusing", "silent"]) {
        const later = startMs.get(kind)! - startMs.get("living")!;
        assert(later <= LATER_MS, `${kind}: ready ${later} ms later`);
        const sentLater = produceMs.get(kind)! - produceMs.get("living")!;
        assert(sentLater <= LATER_MS, `${kind}: sent ${sentLater} ms later`);
        const [usual, now] = [p99.get("living")!, p99.get(kind)!];
        assert(
          now <= Math.max(2 * usual, usual + NOISE_MS),
          `${kind}: p99 ${now} ms instead of ${usual} ms`,
        );
      }
    })
  ));

/** The lower quartile, over rounds that take turns, of each broker's p99 in milliseconds: other work on the machine only adds. */
async function interleavedP99(
  brokers: ReadonlyMap<string, PocketMQProcess>,
): Promise<Map<string, number>> {
  const clients = new Map<string, RawClient>();
  const rounds = new Map<string, number[]>();
  for (const [kind, broker] of brokers) {
    clients.set(kind, await RawClient.open(broker.address("broker")));
    rounds.set(kind, []);
  }
  const startedMs = performance.now();
  for (
    let round = 0;
    round < ROUNDS || performance.now() - startedMs < LOAD_MS;
    round++
  ) {
    for (const [kind, client] of clients) {
      rounds.get(kind)!.push(await p99Of(client));
    }
  }
  for (const it of clients.values()) it.close();
  return new Map([...rounds].map(([kind, all]) => [kind, quartileOf(all)]));
}

/** Milliseconds from the start of a producer of ours to its end. */
async function msToProduce(namesrvAddr: string): Promise<number> {
  const startedMs = performance.now();
  const done = await runPocketMQ(["produce", "T", "body", "-n", namesrvAddr]);
  assertEquals(done.code, 0, done.stderr);
  return performance.now() - startedMs;
}

async function p99Of(client: RawClient): Promise<number> {
  const latencies = new Latencies();
  const body = new Uint8Array(1_024);
  for (let sent = 0; sent < SENDS; sent++) {
    const startedMs = performance.now();
    const answer = await client.send("T", sent % 4, body);
    latencies.add(performance.now() - startedMs);
    assertEquals(answer.code, 0, answer.remark ?? "");
  }
  return latencies.percentiles().p99;
}

function quartileOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)]!;
}

/** An address where nothing listens any more. */
function refusingAddress(): Promise<string> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const bound = server.address();
      const port = typeof bound === "object" ? bound!.port : 0;
      server.close(() => resolve(`127.0.0.1:${port}`));
    });
  });
}
