/** What the stories of `scripts/torture` have in common: a pair over a link of their own. */
import { assertEquals } from "@std/assert";
import { haOf, startBrokerProcess } from "../support/broker_process.ts";
import { eventually } from "../support/eventually.ts";
import type { PocketMQProcess } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { TcpLink } from "../support/tcp_link.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

/** One promise, kept at full length and in real time. */
export interface Story {
  readonly name: string;
  /** One sentence. */
  readonly promise: string;
  /** Seconds that pass by themselves: such stories run side by side. */
  readonly isQuiet: boolean;
  /** Resolves with the figures; throws when the promise is broken. */
  run(): Promise<string>;
}

/** Below maxMessageSize of `startBrokerProcess`. */
const BODY_BYTES_MAX = 60_000;
const SENDS_AT_ONCE = 32;

/** A master, and the wire that its slave will use. */
export interface Wire {
  readonly folder: string;
  readonly master: PocketMQProcess;
  readonly link: TcpLink;
}

/** Runs `use` with a master and a wire; both are gone afterwards. */
export async function withWire<T>(
  settings: readonly string[],
  use: (wire: Wire) => Promise<T>,
): Promise<T> {
  return await withTempDirectory(async (folder) => {
    const master = await startBrokerProcess(`${folder}/m`, ...settings);
    const link = await TcpLink.open(master.address("ha"));
    try {
      return await use({ folder, master, link });
    } finally {
      await link.close();
      await master.stop("SIGKILL");
    }
  });
}

/** Runs `use` while a slave follows from the first byte on, over the wire. */
export async function withSlave<T>(
  { folder, master, link }: Wire,
  use: (slave: PocketMQProcess) => Promise<T>,
): Promise<T> {
  const slave = await startBrokerProcess(
    `${folder}/s`,
    "brokerRole=SLAVE",
    "brokerId=1",
    "haBootstrap=min",
    `haMasterAddress=${link.address}`,
    `masterAddress=${master.address("broker")}`,
  );
  try {
    return await use(slave);
  } finally {
    await slave.stop("SIGKILL");
  }
}

/** Sends messages until the log holds `bytes` more. */
export async function fill(
  master: PocketMQProcess,
  bytes: number,
): Promise<void> {
  const count = Math.ceil(bytes / BODY_BYTES_MAX);
  await send(master, count, BODY_BYTES_MAX);
}

/** One small message. */
export function sendOne(master: PocketMQProcess): Promise<void> {
  return send(master, 1, 100);
}

/** On a connection of its own, since idle ones are closed; every message must be stored. */
async function send(
  master: PocketMQProcess,
  count: number,
  size: number,
): Promise<void> {
  const client = await RawClient.open(master.address("broker"));
  const body = new Uint8Array(size);
  for (let sent = 0; sent < count; sent += SENDS_AT_ONCE) {
    const answers = await Promise.all(
      Array.from(
        { length: Math.min(SENDS_AT_ONCE, count - sent) },
        (_, index) => client.send("Torture", index % 4, body),
      ),
    );
    for (const { code, remark } of answers) {
      assertEquals(code, 0, remark ?? undefined);
    }
  }
  client.close();
}

/** Ends of both logs. */
export async function endsOf(
  master: PocketMQProcess,
  slave: PocketMQProcess,
): Promise<{ master: number; slave: number }> {
  const [theirs, ours] = await Promise.all([haOf(master), haOf(slave)]);
  return {
    master: theirs.masterCommitLogMaxOffset,
    slave: ours.haClientRuntimeInfo?.maxOffset ?? 0,
  };
}

/** Resolves once the slave holds what the master holds. */
export async function caughtUp(
  master: PocketMQProcess,
  slave: PocketMQProcess,
  timeoutMs = 60_000,
): Promise<void> {
  await eventually(async () => {
    const ends = await endsOf(master, slave);
    return ends.slave === ends.master;
  }, { timeoutMs, message: "the slave holds what the master holds" });
}

/** The slave has used one connection since it began, and knows of no other. */
export async function assertNeverReconnected(
  link: TcpLink,
  slave: PocketMQProcess,
): Promise<void> {
  const { haClientRuntimeInfo } = await haOf(slave);
  assertEquals(link.accepted, 1, "connections of the slave");
  assertEquals(haClientRuntimeInfo.reconnects, 0, "reconnects");
  assertEquals(haClientRuntimeInfo.state, "TRANSFER");
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
