/** Transactions go on where the store of a slave, stopped or killed, leads. */
import { cpSync } from "node:fs";
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { eventually } from "../support/eventually.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  COMMIT,
  ROLLBACK,
  TransactionClient,
} from "../support/transaction_client.ts";
import {
  caughtUp,
  type PairNode,
  startMaster,
  startSlave,
  stopAll,
} from "./pair_site.ts";

/** Settles what the leader asks about, and finds everything where it belongs. */
async function settle(leader: PairNode): Promise<void> {
  const client = await TransactionClient.open(leader.address);
  await eventually(() => client.asked("open") && client.asked("undone"));
  await client.end(client.asked("open")!, COMMIT);
  await client.end(client.asked("undone")!, ROLLBACK);
  await eventually(() => client.isWorkedOff());
  assertEquals(client.asked("committed"), undefined);
  assertEquals(await client.delivered(), ["committed", "open"]);
  client.close();
}

for (const how of ["was stopped", "was killed"]) {
  test(`A slave that ${how} and leads now asks about open transactions, and delivers each once`, () =>
    withTempDirectory(async (folder) => {
      const master = await startMaster(`${folder}/m`);
      const slave = await startSlave(`${folder}/s`, master);
      const client = await TransactionClient.open(master.address);
      const committed = await client.send("committed");
      await client.send("open");
      await client.send("undone");
      await client.end(committed, COMMIT);
      client.close();
      await caughtUp(master, slave);
      const killed = `${folder}/killed`;
      cpSync(slave.folder, killed, { recursive: true });
      await stopAll(master, slave);
      const leader = await startMaster(
        how === "was killed" ? killed : slave.folder,
        { broker: { transactionTimeOut: 1, transactionCheckInterval: 100 } },
      );
      try {
        await settle(leader);
      } finally {
        await stopAll(leader);
      }
    }));
}
