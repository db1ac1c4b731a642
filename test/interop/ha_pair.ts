/** What the replication tests do with a master and its slaves, ours or Apache's. */
import { assert, assertEquals } from "@std/assert";
import { RawClient } from "../support/raw_client.ts";
import { delayOffsetsIn } from "./delayed_messages.ts";
import type { InteropSite } from "./interop_site.ts";
import { runDriver } from "./java.ts";
import { differencesOf, metadataTables } from "./metadata_tables.ts";
import { createAttributedTopic } from "./modern_records.ts";
import type { OurBroker } from "./our_broker.ts";
import { compareStores, type StoreComparison } from "./store_compare.ts";

const UPDATE_CONSUMER_OFFSET = 15;
const TOPICS = ["LoadA", "LoadB"];
export const ATTRIBUTED = "Attributed";

/** Against SMALL_FILES. */
export const OTHER_FILE_SIZE: Record<string, string> = {
  mappedFileSizeCommitLog: String(2 * 1024 * 1024),
};

/** A 5.x slave copies the tables for the first time more than 60 s after its start. */
export const TABLES_WITHIN_MS: Record<string, number> = {
  "4.9.7": 15_000,
  "5.5.0": 75_000,
};

/** A broker of either kind, as far as these tests look at it. */
export interface Node {
  readonly address: string;
  readonly haAddress: string;
  readonly storePath: string;
}

/** What `/admin/ha` says, as far as these tests read it. */
export interface HAStatus {
  state: string;
  reason: string | null;
  inSyncSlaveNums: number;
  haConnectionInfo: { addr: string; state: string; inSync: boolean }[];
  haClientRuntimeInfo: { state: string; masterAddr: string } | null;
}

/** Asks a broker of ours. */
export async function haStatus(broker: OurBroker): Promise<HAStatus> {
  const answer = await fetch(`${broker.admin}/admin/ha`);
  assertEquals(answer.status, 200);
  return await answer.json() as HAStatus;
}

/** Waits until so many slaves hold what the master holds. */
export async function inSync(
  site: InteropSite,
  master: OurBroker,
  count: number,
): Promise<void> {
  await site.eventually(
    async () => (await haStatus(master)).inSyncSlaveNums === count,
    `${count} slaves in sync`,
    45_000,
  );
}

/** Waits until bytes may flow to this slave. */
export async function follows(
  site: InteropSite,
  slave: OurBroker,
): Promise<void> {
  await site.eventually(
    async () =>
      (await haStatus(slave)).haClientRuntimeInfo?.state === "TRANSFER",
    "a slave that follows",
    45_000,
  );
}

/** True for a reason that names the key to change. */
export function namesFileSize(reason: string | null): boolean {
  return reason?.includes("mappedFileSizeCommitLog") ?? false;
}

/** Creates the topics of `load` at the master, which tells the name server at once. */
export async function createLoadTopics(
  site: InteropSite,
  namesrv: string,
  master: Node,
): Promise<void> {
  for (const topic of TOPICS) {
    await site.createTopic(namesrv, topic, "--broker", master.address);
  }
}

/** Sends `count` messages; every one must be SEND_OK. */
export async function load(
  site: InteropSite,
  driver: string,
  namesrv: string,
  from: number,
  count: number,
): Promise<void> {
  const done = await runDriver(driver, [
    "load",
    `namesrv=${namesrv}`,
    `topics=${TOPICS}`,
    `from=${from}`,
    `count=${count}`,
  ], site.folder);
  assertEquals(done.result, { ok: count, faults: 0 }, done.output);
}

/** Changes one row of each table that clients can change; 5.x also has attributes of topics. */
export async function changeTables(
  site: InteropSite,
  namesrv: string,
  master: Node,
  withAttributes: boolean,
): Promise<void> {
  const at = ["--broker", master.address];
  await site.run(namesrv, "topic", "create", "Later", "--queues", "3", ...at);
  await site.run(namesrv, "group", "create", "later", ...at);
  const client = await RawClient.open(master.address);
  const invoke = async (code: number, fields: Record<string, string>) => {
    const answer = await client.invoke(code, fields);
    assertEquals(answer.code, 0, answer.remark ?? undefined);
  };
  await invoke(UPDATE_CONSUMER_OFFSET, {
    consumerGroup: "later",
    topic: "LoadA",
    queueId: "2",
    commitOffset: "7",
  });
  if (withAttributes) {
    await createAttributedTopic(client, ATTRIBUTED, "+message.type=FIFO");
  }
  client.close();
}

/** Waits until slave and master hold the same bytes; returns what was compared. */
export async function awaitCopy(
  site: InteropSite,
  master: Node,
  slave: Node,
  recordCountMin: number,
): Promise<StoreComparison> {
  let last: StoreComparison | undefined;
  try {
    await site.eventually(() => {
      last = compareLiveStores(master.storePath, slave.storePath) ?? last;
      return last?.differences.length === 0 &&
        last.recordCount >= recordCountMin;
    }, "equal stores");
  } catch (error) {
    throw new Error(`${slave.storePath}: ${JSON.stringify(last)}`, {
      cause: error,
    });
  }
  assert(last!.unitCount > 0, JSON.stringify(last));
  assert(last!.indexEntryCount > 0, JSON.stringify(last));
  return last!;
}

/** Undefined when a file went away meanwhile: a slave that begins anew removes all of its own. */
function compareLiveStores(
  masterPath: string,
  slavePath: string,
): StoreComparison | undefined {
  try {
    return compareStores(masterPath, slavePath);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Waits until the slave's tables are the master's; Apache's slave has one of them in its file. */
export async function awaitTables(
  site: InteropSite,
  master: Node,
  slave: Node,
  withinMs: number,
  isApacheSlave = false,
): Promise<void> {
  let last: string[] = [];
  try {
    await site.eventually(
      async () => {
        const [theirs, ours] = await Promise.all([
          metadataTables(master.address),
          metadataTables(slave.address),
        ]);
        if (isApacheSlave) ours.delayOffsets = delayOffsetsIn(slave.storePath);
        last = differencesOf(theirs, ours);
        return last.length === 0;
      },
      "equal tables",
      withinMs,
    );
  } catch (error) {
    throw new Error(`Tables differ: ${last}`, { cause: error });
  }
}
