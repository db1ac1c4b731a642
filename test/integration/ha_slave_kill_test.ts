/**
 * A slave is killed while it copies: after each start its log, its queues and its index are its
 * master's. TEST_SLAVE_KILL_ROUNDS sets the number of rounds (4 by default).
 */
import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { test } from "node:test";
import { OurBroker } from "../interop/our_broker.ts";
import { compareStores, logEndOf } from "../interop/store_compare.ts";
import { eventually } from "../support/eventually.ts";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { StoreContent } from "../support/store_content.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const ROUNDS = Number(process.env.TEST_SLAVE_KILL_ROUNDS ?? 4);
const PER_SEND = 300;
/** Of what a round sends: the kill comes in the middle of it. */
const COPIED_BEFORE_KILL = 200_000;
const WITHIN = { timeoutMs: 60_000 };

test(`69: kill -9 of a slave under load skips nothing [rounds=${ROUNDS}]`, () =>
  withTempDirectory(async (folder) => {
    const master = await OurBroker.start({
      folder: `${folder}/master`,
      namesrv: "",
    });
    const startSlave = () =>
      OurBroker.start({
        folder: `${folder}/slave`,
        namesrv: "",
        role: "SLAVE",
        settings: { haMasterAddress: master.haAddress, haBootstrap: "min" },
      });
    const client = await RawClient.open(master.address);
    const content = new StoreContent();
    await content.createTables(client);
    let slave = await startSlave();
    try {
      for (let round = 1; round <= ROUNDS; round++) {
        const before = logEndOf(master.storePath);
        let isKilled = false;
        const sending = (async () => {
          while (!isKilled) await content.send(client, PER_SEND);
          await content.send(client, PER_SEND);
        })();
        await eventually(
          () => logEndOf(slave.storePath) > before + COPIED_BEFORE_KILL,
          WITHIN,
        );
        await slave.stop("SIGKILL");
        isKilled = true;
        await sending;
        assert(logEndOf(slave.storePath) < logEndOf(master.storePath));
        slave = await startSlave();
        await becomesEqual(master, slave, content.messages.length);
      }
      assertEquals(await slave.stop(), 0);
    } finally {
      client.close();
      await slave.stop("SIGKILL");
      await master.stop("SIGKILL");
    }
    const done = await runPocketMQ(["store", "verify", slave.storePath]);
    assertEquals(done.code, 0, done.stdout);
  }));

async function becomesEqual(
  master: OurBroker,
  slave: OurBroker,
  recordCount: number,
): Promise<void> {
  let last = "";
  try {
    await eventually(() => {
      const compared = compareStores(master.storePath, slave.storePath);
      last = JSON.stringify(compared);
      return compared.differences.length === 0 &&
        compared.recordCount === recordCount &&
        compared.unitCount === recordCount;
    }, WITHIN);
  } catch (cause) {
    throw new Error(`The slave differs: ${last}`, { cause });
  }
}
