/** A SYNC_MASTER is killed under load: whatever it acknowledged is on its slave. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/eventually.ts";
import { PocketMQProcess, runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const CONNECTIONS = 4;
const IN_FLIGHT = 16;
const SEND_OK_MIN = 1_000;

function startBroker(folder: string, ...settings: string[]) {
  const common = [
    "brokerName=broker-a",
    "mappedFileSizeCommitLog=1M",
    "maxMessageSize=64K",
    ...settings,
  ];
  return PocketMQProcess.start([
    "broker",
    "--bind",
    "127.0.0.1",
    "--listen-port",
    "0",
    "--admin-port",
    "0",
    "--store",
    folder,
    ...common.flatMap((it) => ["--set", it]),
  ]);
}

async function isInSync(master: PocketMQProcess): Promise<boolean> {
  const answer = await fetch(`http://${master.address("admin")}/admin/ha`);
  return (await answer.json()).inSyncSlaveNums === 1;
}

/** Sends until the connection ends; offset message ids of what was acknowledged. */
async function load(address: string, acknowledged: string[]): Promise<void> {
  const client = await RawClient.open(address);
  const lane = async () => {
    for (;;) {
      const answer = await client.send("T", 0, new Uint8Array(700));
      if (answer.code === 0) acknowledged.push(answer.extFields.msgId!);
    }
  };
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, () => lane().catch(() => {})),
  );
}

test("kill -9 of a SYNC_MASTER under load: every SEND_OK is in the slave's log", () =>
  withTempDirectory(async (folder) => {
    const master = await startBroker(
      `${folder}/m`,
      "brokerRole=SYNC_MASTER",
    );
    const slave = await startBroker(
      `${folder}/s`,
      "brokerRole=SLAVE",
      "brokerId=1",
      `haMasterAddress=${master.address("ha")}`,
    );
    const acknowledged: string[] = [];
    try {
      await eventually(() => isInSync(master));
      const loads = Array.from(
        { length: CONNECTIONS },
        () => load(master.address("broker"), acknowledged),
      );
      await eventually(() => acknowledged.length >= SEND_OK_MIN, {
        timeoutMs: 30_000,
      });
      await master.stop("SIGKILL");
      await Promise.all(loads);
    } finally {
      await master.stop("SIGKILL");
      assertEquals(await slave.stop(), 0);
    }
    const verified = await runPocketMQ(["store", "verify", `${folder}/s`]);
    assertEquals(verified.code, 0, verified.stdout + verified.stderr);
    const dump = await runPocketMQ([
      "store",
      "dump",
      `${folder}/s`,
      "--count",
      "1000000",
    ]);
    const offsets = new Set(
      dump.stdout.split("\n").map((it) => it.split(" ")[0]!),
    );
    // The last 16 digits of an offset message id are the place in the log.
    const missing = acknowledged.filter((it) =>
      !offsets.has(String(parseInt(it.slice(-16), 16)))
    );
    assertEquals(missing, []);
    assert(acknowledged.length >= SEND_OK_MIN);
  }));
