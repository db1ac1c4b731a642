/**
 * What a SYNC_MASTER answers while something is wrong with its slave: nobody there, frozen
 * (SIGSTOP), cut off without a word, unable to write, or no slave at all but junk that pretends
 * to be one. Each ends without a restart of either (scenarios 1, 9, 15, 27).
 */
import process from "node:process";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import {
  haOf,
  limitFileSize,
  startBrokerProcess,
  withProcesses,
} from "../support/broker_process.ts";
import { eventually } from "../support/eventually.ts";
import {
  type PocketMQProcess,
  runPocketMQ,
} from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { TcpLink } from "../support/tcp_link.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const OK = 0;
const SLAVE_NOT_AVAILABLE = 11;
const FLUSH_SLAVE_TIMEOUT = 12;

const SLAVE_TIMEOUT_MS = 1_000;
const HOUSEKEEPING_MS = 2_500;
const DEGRADE_AFTER_MS = 5_000;
/** What a loaded machine may add to an answer's own time. */
const GRACE_MS = 2_000;
/** Everything but waiting for a put is longer than this. */
const PATIENCE = { timeoutMs: 30_000 };

const INTERVALS = [
  `slaveTimeout=${SLAVE_TIMEOUT_MS}`,
  `haHousekeepingInterval=${HOUSEKEEPING_MS}`,
  "haSendHeartbeatInterval=500",
];

/** A pair whose link runs through the test. */
interface Site {
  readonly master: PocketMQProcess;
  readonly slave: PocketMQProcess;
  readonly link: TcpLink;
  readonly client: RawClient;
}

/** How the slave fails and recovers; `begin` says false where the machine cannot do it. */
interface Trouble {
  readonly name: string;
  begin(site: Site): boolean | Promise<boolean>;
  end(site: Site): void | Promise<void>;
  /** The word that the slave itself must say meanwhile. */
  readonly slaveState?: string;
  readonly slaveReason?: string;
}

const TROUBLES: readonly Trouble[] = [
  {
    name: "frozen",
    begin: ({ slave }) => process.kill(slave.pid, "SIGSTOP"),
    end: ({ slave }) => void process.kill(slave.pid, "SIGCONT"),
  },
  {
    name: "blackholed",
    begin: ({ link }) => {
      link.blackhole();
      return true;
    },
    end: ({ link }) => link.heal(),
    slaveState: "disconnected",
    slaveReason: "silent",
  },
  {
    name: "unable to write",
    begin: ({ slave }) => limitFileSize(slave.pid, 4096),
    end: ({ slave }) => void limitFileSize(slave.pid, null),
    slaveState: "stalled",
    slaveReason: "The store takes no bytes",
  },
];

/** Sends one message; its code, checked against the time that this code may take. */
async function send({ client }: Site): Promise<number> {
  const startedMs = performance.now();
  const { code, remark } = await client.send("T", 0, new Uint8Array(3_000));
  const elapsedMs = performance.now() - startedMs;
  const what = `${code} after ${elapsedMs} ms: ${remark}`;
  assert(elapsedMs < SLAVE_TIMEOUT_MS + GRACE_MS, what);
  if (code === FLUSH_SLAVE_TIMEOUT) {
    assert(elapsedMs >= SLAVE_TIMEOUT_MS - 1, what);
  } else assert(elapsedMs < GRACE_MS, what);
  return code;
}

/** Sends until one is answered with `code`; everything before must be one of `before`. */
async function sendUntil(
  site: Site,
  code: number,
  before: readonly number[],
): Promise<void> {
  await eventually(async () => {
    const answer = await send(site);
    if (answer === code) return true;
    assert(before.includes(answer), `${answer} while waiting for ${code}`);
    return false;
  }, PATIENCE);
}

async function withSite(
  haSyncMode: "strict" | "degrade",
  run: (site: Site) => Promise<void>,
): Promise<void> {
  await withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const master = await keep(startBrokerProcess(
        `${folder}/m`,
        ...INTERVALS,
        "brokerRole=SYNC_MASTER",
        `haSyncMode=${haSyncMode}`,
        `haDegradeAfterMs=${DEGRADE_AFTER_MS}`,
      ));
      const client = await RawClient.open(master.address("broker"));
      await sendUntil({ master, client } as Site, SLAVE_NOT_AVAILABLE, []);
      const link = await TcpLink.open(master.address("ha"));
      const slave = await keep(startBrokerProcess(
        `${folder}/s`,
        ...INTERVALS,
        "brokerRole=SLAVE",
        "brokerId=1",
        `haMasterAddress=${link.address}`,
        `masterAddress=${master.address("broker")}`,
      ));
      await run({ master, slave, link, client }).finally(() => link.close());
      client.close();
    })
  );
}

/** The pair is whole again, and holds the same bytes. */
async function isWhole(site: Site, before: readonly number[]): Promise<void> {
  await sendUntil(site, OK, before);
  for (let count = 0; count < 10; count++) assertEquals(await send(site), OK);
  await eventually(async () => {
    const [master, slave] = [await haOf(site.master), await haOf(site.slave)];
    return master.state === "healthy" && slave.state === "healthy" &&
      slave.haClientRuntimeInfo.maxOffset === master.masterCommitLogMaxOffset;
  }, PATIENCE);
}

async function slaveSays(site: Site, trouble: Trouble): Promise<void> {
  const { slaveReason = "", slaveState } = trouble;
  if (slaveState === undefined) return;
  const said = await eventually(async () => {
    const { reason, state } = await haOf(site.slave);
    return state === slaveState ? String(reason) : "";
  }, PATIENCE);
  assert(said.includes(slaveReason), said);
}

test("strict: a slave in trouble gives 12, then 11, and 0 again when it is over", () =>
  withSite("strict", async (site) => {
    await isWhole(site, [SLAVE_NOT_AVAILABLE]);
    for (const trouble of TROUBLES) {
      if (!await trouble.begin(site)) continue;
      // What was sent before the failure shows may still be confirmed once.
      await sendUntil(site, SLAVE_NOT_AVAILABLE, [OK, FLUSH_SLAVE_TIMEOUT]);
      assertEquals(await send(site), SLAVE_NOT_AVAILABLE, trouble.name);
      assertEquals((await haOf(site.master)).state, "alone", trouble.name);
      await slaveSays(site, trouble);
      await trouble.end(site);
      await isWhole(site, [SLAVE_NOT_AVAILABLE, FLUSH_SLAVE_TIMEOUT]);
    }
  }));

/** Reports that no slave could make, and two that one could; whoever made them then says nothing. */
async function pretend(site: Site, allowed: readonly number[]): Promise<void> {
  const strangers: Socket[] = [];
  try {
    const end = BigInt((await haOf(site.master)).masterCommitLogMaxOffset);
    for (const offset of [0x7fff_ffff_ffff_ffffn, -1n, end + 1n, end, 0n]) {
      const stranger = await stranger8(site.master.address("ha"), offset);
      strangers.push(stranger);
      for (let count = 0; count < 2; count++) {
        const code = await send(site);
        assert(allowed.includes(code), `${offset}: ${code}`);
      }
    }
  } finally {
    for (const it of strangers) it.destroy();
  }
}

test("strict: with the slave frozen no ack of a stranger makes a send true", () =>
  withSite("strict", async (site) => {
    const acknowledged: string[] = [];
    await isWhole(site, [SLAVE_NOT_AVAILABLE]);
    for (let count = 0; count < 20; count++) {
      const sent = await site.client.send("T", 0, new Uint8Array(100));
      assertEquals(sent.code, OK);
      acknowledged.push(sent.extFields.msgId!);
    }
    process.kill(site.slave.pid, "SIGSTOP");
    try {
      const allowed = [SLAVE_NOT_AVAILABLE, FLUSH_SLAVE_TIMEOUT];
      await pretend(site, allowed);
      // Their marks go with them.
      const late = await Promise.all(
        Array.from({ length: 100 }, () => send(site)),
      );
      assert(late.every((it) => allowed.includes(it)), `${late}`);
      await site.master.stop("SIGKILL");
    } finally {
      process.kill(site.slave.pid, "SIGCONT");
    }
    await promote(site.slave);
    const client = await RawClient.open(site.slave.address("broker"));
    for (const msgId of acknowledged) {
      // The last 16 digits of an offset message id are the place in the log.
      const offset = String(parseInt(msgId.slice(-16), 16));
      assertEquals((await client.invoke(33, { offset })).code, OK, msgId);
    }
    client.close();
  }));

test("degrade: with the slave frozen a stranger costs waiting, and no answer is late", () =>
  withSite("degrade", async (site) => {
    await isWhole(site, [SLAVE_NOT_AVAILABLE]);
    process.kill(site.slave.pid, "SIGSTOP");
    try {
      await eventually(async () => {
        await send(site);
        return (await haOf(site.master)).state === "degraded";
      }, PATIENCE);
      await pretend(site, [OK, SLAVE_NOT_AVAILABLE, FLUSH_SLAVE_TIMEOUT]);
      await sendUntil(site, OK, [SLAVE_NOT_AVAILABLE, FLUSH_SLAVE_TIMEOUT]);
    } finally {
      process.kill(site.slave.pid, "SIGCONT");
    }
    await eventually(
      async () => (await haOf(site.master)).state === "healthy",
      PATIENCE,
    );
    await isWhole(site, []);
  }));

/** Its master is gone for good. */
async function promote(slave: PocketMQProcess): Promise<void> {
  const admin = `http://${slave.address("admin")}`;
  const args = ["ha", "promote", "--admin", admin, "--force"];
  const { code, stderr } = await runPocketMQ(args);
  assertEquals(code, 0, stderr);
}

/** Connects, writes one report, and stays. */
async function stranger8(address: string, offset: bigint): Promise<Socket> {
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host!);
  socket.on("error", () => {});
  socket.on("data", () => {});
  const report = new DataView(new ArrayBuffer(8));
  report.setBigInt64(0, offset);
  await new Promise<void>((resolve) =>
    socket.write(new Uint8Array(report.buffer), () => resolve())
  );
  return socket;
}

test("degrade: 12 or 11 at first, then 0 from the master alone, and every status says so", () =>
  withSite("degrade", async (site) => {
    await isWhole(site, [SLAVE_NOT_AVAILABLE]);
    for (const trouble of TROUBLES) {
      if (!await trouble.begin(site)) continue;
      await eventually(async () => {
        const code = await send(site);
        assert([OK, SLAVE_NOT_AVAILABLE, FLUSH_SLAVE_TIMEOUT].includes(code));
        return (await haOf(site.master)).state === "degraded";
      }, PATIENCE);
      for (let count = 0; count < 5; count++) {
        assertEquals(await send(site), OK, trouble.name);
      }
      await slaveSays(site, trouble);
      await trouble.end(site);
      await eventually(
        async () => (await haOf(site.master)).state === "healthy",
        PATIENCE,
      );
      await isWhole(site, []);
    }
  }));
