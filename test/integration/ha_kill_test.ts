/**
 * A SYNC_MASTER is killed under load and its slave promoted: whatever was acknowledged is there.
 * The killed one comes back, is demoted and follows; then it is the other one's turn.
 * TEST_KILL_ROUNDS sets the number of rounds (5 by default).
 */
import process from "node:process";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { eventually } from "../support/eventually.ts";
import { FailoverBroker, inSync } from "../support/failover_site.ts";
import { PocketMQProcess, runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const ROUNDS = Number(process.env.TEST_KILL_ROUNDS ?? 5);
const CONNECTIONS = 4;
const IN_FLIGHT = 16;
const SEND_OK_MIN = 1_000;
/** Of the answers while the slave is up. */
const SEND_OK_RATIO_MIN = 0.95;
const SETTLE_MS = 30_000;

/** What producers were told. */
interface Sent {
  /** Body by place in the log, of what was acknowledged. */
  readonly acknowledged: Map<number, string>;
  answerCount: number;
  okCount: number;
}

/** Sends until the connection ends. */
async function load(
  address: string,
  producer: string,
  sent: Sent,
): Promise<void> {
  const client = await RawClient.open(address);
  let number = 0;
  const lane = async () => {
    for (;;) {
      const body = `${producer}-${number++}-`.padEnd(200 + number % 900, "x");
      const answer = await client.send(
        "T",
        0,
        new TextEncoder().encode(body),
      );
      sent.answerCount++;
      if (answer.code !== 0) continue;
      sent.okCount++;
      // The last 16 digits of an offset message id are the place in the log.
      const place = parseInt(answer.extFields.msgId!.slice(-16), 16);
      sent.acknowledged.set(place, body);
    }
  };
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, () => lane().catch(() => {})),
  );
}

/** Acknowledged messages that the broker does not have where it was said. */
async function missingAt(
  address: string,
  acknowledged: ReadonlyMap<number, string>,
): Promise<number[]> {
  const client = await RawClient.open(address);
  const missing: number[] = [];
  const text = new TextDecoder();
  for (const [place, body] of acknowledged) {
    const answer = await client.invoke(33, { offset: String(place) });
    const isThere = answer.code === 0 &&
      text.decode(decodeMessageRecord(answer.body).body) === body;
    if (!isThere) missing.push(place);
  }
  client.close();
  return missing;
}

async function changeRole(
  command: "promote" | "demote",
  broker: FailoverBroker,
): Promise<string> {
  const admin = `http://${broker.process!.address("admin")}`;
  const done = await runPocketMQ(["ha", command, "--admin", admin]);
  assertEquals(done.code, 0, done.stderr);
  return done.stdout;
}

/** One round; the killed broker is a slave in sync again at its end. */
async function round(
  number: number,
  master: FailoverBroker,
  slave: FailoverBroker,
): Promise<void> {
  const sent: Sent = { acknowledged: new Map(), answerCount: 0, okCount: 0 };
  const loads = Array.from(
    { length: CONNECTIONS },
    (_, index) => load(master.address, `${number}-${index}`, sent),
  );
  await eventually(() => sent.okCount >= SEND_OK_MIN, { timeoutMs: SETTLE_MS });
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
  await master.kill();
  await Promise.all(loads);
  const ratio = sent.okCount / sent.answerCount;
  assert(ratio >= SEND_OK_RATIO_MIN, `${ratio} of the answers were SEND_OK`);

  await changeRole("promote", slave);
  const { epoch, role } = await slave.ha();
  assertEquals([role, epoch], ["SYNC_MASTER", number]);
  assertEquals(await missingAt(slave.address, sent.acknowledged), []);

  await master.start();
  assertEquals((await master.ha()).state, "diverged");
  const { ok } = await master.send(5);
  assertEquals(ok, 0, "an old master accepts nothing");
  await changeRole("demote", master);
  await eventually(async () => (await slave.ha()).state === "healthy", {
    timeoutMs: SETTLE_MS,
    message: "the pair is healthy again",
  });
  await inSync(slave);
  assertEquals((await slave.send(20)).ok, 20);
  assertEquals(await missingAt(master.address, sent.acknowledged), []);
}

test("kill -9 of a SYNC_MASTER under load: the promoted slave has every SEND_OK, and the old one follows", () =>
  withTempDirectory(async (folder) => {
    const server = await PocketMQProcess.start([
      "namesrv",
      "--namesrv-port",
      "0",
      "--bind",
      "127.0.0.1",
      "--set",
      `kvConfigPath=${folder}/kvConfig.json`,
    ]);
    const namesrv = server.address("namesrv");
    let master = new FailoverBroker(`${folder}/a`, namesrv, [
      "brokerRole=SYNC_MASTER",
    ]);
    let slave = new FailoverBroker(`${folder}/b`, namesrv, [
      "brokerRole=SLAVE",
      "brokerId=1",
    ]);
    try {
      await master.start();
      await slave.start();
      await inSync(master);
      for (let number = 1; number <= ROUNDS; number++) {
        await round(number, master, slave);
        [master, slave] = [slave, master];
      }
    } finally {
      await master.process?.stop();
      await slave.process?.stop();
      await server.stop();
    }
    for (const it of ["a", "b"]) {
      const verified = await runPocketMQ([
        "store",
        "verify",
        `${folder}/${it}`,
      ]);
      assertEquals(verified.code, 0, verified.stdout + verified.stderr);
    }
  }));
