/**
 * kill -9 at any instant of a promotion, a demotion or a re-seed: the pair ends with one master
 * that has everything that was acknowledged, by the commands that the states name.
 * TEST_KILL_ROUNDS sets the number of rounds (3 by default).
 */
import process from "node:process";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { eventually } from "../support/eventually.ts";
import {
  changeRole,
  FailoverBroker,
  withNamesrv,
} from "../support/failover_site.ts";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const ROUNDS = Number(process.env.TEST_KILL_ROUNDS ?? 3);
/** The longest part of a change that a kill can hit. */
const KILL_WITHIN_MS = 400;
const PATIENCE = { timeoutMs: 60_000 };

type Nodes = readonly [FailoverBroker, FailoverBroker];
type Status = Awaited<ReturnType<FailoverBroker["ha"]>>;

/** Sends to both nodes until it is ended, and keeps what was acknowledged. */
class Producer {
  /** Body by place in the log. */
  readonly acknowledged = new Map<number, string>();
  /** Places that two messages were told: two masters accepted them. */
  readonly conflicts: number[] = [];
  #isOver = false;
  readonly #lanes: Promise<void>[];

  constructor(nodes: Nodes) {
    this.#lanes = nodes.map((it) => this.#lane(it));
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lanes);
  }

  async #lane(node: FailoverBroker): Promise<void> {
    for (let number = 0; !this.#isOver; number++) {
      try {
        const client = await RawClient.open(node.address);
        await this.#send(client, node, number).finally(() => client.close());
      } catch {
        // Nobody listens, or it was killed.
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async #send(client: RawClient, node: FailoverBroker, first: number) {
    for (let number = 0; !this.#isOver; number++) {
      const body = `${node.address}-${first}-${number}-`.padEnd(100, "x");
      const sent = await client.send("T", 0, new TextEncoder().encode(body));
      // A refusal: another connection may find another role.
      if (sent.code === 14) return;
      if (sent.code !== 0) continue;
      const place = parseInt(sent.extFields.msgId!.slice(-16), 16);
      if (this.acknowledged.has(place)) this.conflicts.push(place);
      this.acknowledged.set(place, body);
    }
  }
}

/** What a change of role is, and whom it hits. */
interface Change {
  readonly name: string;
  begin(master: FailoverBroker, slave: FailoverBroker): Promise<FailoverBroker>;
}

const CHANGES: readonly Change[] = [
  {
    name: "promotion",
    async begin(master, slave) {
      await master.kill();
      void changeRole(slave, { role: "MASTER" }).catch(() => {});
      return slave;
    },
  },
  {
    name: "demotion",
    begin(master) {
      void changeRole(master, { role: "SLAVE" }).catch(() => {});
      return Promise.resolve(master);
    },
  },
  {
    // The former master has what nobody else has: its demotion cuts that off.
    name: "demotion with a cut",
    async begin(master, slave) {
      await changeRole(slave, { role: "MASTER", force: true });
      await eventually(
        async () => (await master.ha()).state === "diverged",
        PATIENCE,
      );
      void changeRole(master, { role: "SLAVE" }).catch(() => {});
      return master;
    },
  },
];

async function restarted(node: FailoverBroker): Promise<Status | null> {
  try {
    if (node.process === null) await node.start();
    const status = await node.ha();
    return typeof status.role === "string" ? status : null;
  } catch {
    return null;
  }
}

/** One turn of an operator who does what the states say; the master once all is well. */
async function cure(nodes: Nodes): Promise<FailoverBroker | null> {
  const statuses: (Status | null)[] = [];
  for (const it of nodes) statuses.push(await restarted(it));
  if (statuses.some((it) => it === null)) return null;
  const masters = nodes.filter((_, at) => statuses[at]!.master);
  if (masters.length === 0) {
    // The log that is longer has everything; a restarted slave does not know how far it was behind.
    const ends = statuses.map((it) => endOf(it!));
    const heir = nodes[ends[0]! >= ends[1]! ? 0 : 1]!;
    const tried = await changeRole(heir, { role: "MASTER" });
    if (tried.status === 409) {
      await changeRole(heir, { role: "MASTER", force: true });
    }
    return null;
  }
  for (const [at, node] of nodes.entries()) {
    const { master, reason, state } = statuses[at]!;
    if (state !== "diverged" && state !== "needs-reseed") continue;
    if (master && masters.length === 2) {
      assert(String(reason).includes("pocketmq ha demote"), String(reason));
      await changeRole(node, { role: "SLAVE" });
      return null;
    }
    if (!master && String(reason).includes("pocketmq ha reseed")) {
      const admin = `http://${node.process!.address("admin")}`;
      const done = runPocketMQ(["ha", "reseed", "--admin", admin]);
      // Every second re-seed is hit as well.
      if (Math.random() < 0.5) {
        await new Promise((resolve) =>
          setTimeout(resolve, Math.random() * KILL_WITHIN_MS)
        );
        await node.kill();
      }
      await done;
      return null;
    }
  }
  const isWhole = masters.length === 1 &&
    statuses.every((it) => it!.state === "healthy");
  return isWhole ? masters[0]! : null;
}

function endOf(status: Status): number {
  const client = status.haClientRuntimeInfo as { maxOffset: number } | null;
  return client?.maxOffset ?? status.masterCommitLogMaxOffset as number;
}

/** Acknowledged messages that a node does not have where it was said. */
async function missingAt(
  node: FailoverBroker,
  acknowledged: ReadonlyMap<number, string>,
): Promise<string[]> {
  const client = await RawClient.open(node.address);
  const missing: string[] = [];
  for (const [place, body] of acknowledged) {
    const answer = await client.invoke(33, { offset: String(place) });
    const isThere = answer.code === 0 &&
      new TextDecoder().decode(decodeMessageRecord(answer.body).body) === body;
    if (!isThere) missing.push(body);
  }
  client.close();
  return missing;
}

/** One change that is hit; the master and the slave after it. */
async function round(
  change: Change,
  nodes: Nodes,
  master: FailoverBroker,
): Promise<FailoverBroker> {
  const producer = new Producer(nodes);
  const { acknowledged } = producer;
  await eventually(() => acknowledged.size >= 50, PATIENCE);
  const slave = nodes.find((it) => it !== master)!;
  const hit = await change.begin(master, slave);
  await new Promise((resolve) =>
    setTimeout(resolve, Math.random() * KILL_WITHIN_MS)
  );
  await hit.kill();
  const next = (await eventually(() => cure(nodes), PATIENCE))!;
  await producer.end();
  const other = nodes.find((it) => it !== next)!;
  await eventually(
    async () => endOf(await next.ha()) === endOf(await other.ha()),
    PATIENCE,
  );
  const where = `${change.name} that was hit`;
  assertEquals(producer.conflicts, [], where);
  for (const it of nodes) {
    assertEquals(await missingAt(it, acknowledged), [], where);
  }
  // One takes messages, the other does not.
  assertEquals((await next.send(5)).ok, 5, where);
  assertEquals((await other.send(2)).refused, [14, 14], where);
  return next;
}

test("kill -9 at any instant of a change of role leaves one master, which has every SEND_OK", () =>
  withTempDirectory((folder) =>
    withNamesrv(folder, async (namesrv) => {
      const a = new FailoverBroker(`${folder}/a`, namesrv, [
        "brokerRole=SYNC_MASTER",
      ]);
      const b = new FailoverBroker(`${folder}/b`, namesrv, [
        "brokerRole=SLAVE",
        "brokerId=1",
      ]);
      const nodes: Nodes = [a, b];
      try {
        await a.start();
        await b.start();
        let master = (await eventually(() => cure(nodes), PATIENCE))!;
        for (let number = 0; number < ROUNDS; number++) {
          master = await round(CHANGES[number % 3]!, nodes, master);
        }
      } finally {
        await a.kill();
        await b.kill();
      }
      for (const { folder: path } of nodes) {
        const verified = await runPocketMQ(["store", "verify", path]);
        assertEquals(verified.code, 0, verified.stdout + verified.stderr);
      }
    })
  ));
