/**
 * Strangers on the replication port and false masters, against real processes (scenarios 4, 5,
 * 9). TEST_HA_JUNK sets the number of strangers, TEST_FALSE_MASTER_MS the time of each false
 * master.
 */
import { connect, createServer, type Socket } from "node:net";
import process from "node:process";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import {
  haOf,
  startBrokerProcess,
  withProcesses,
} from "../support/broker_process.ts";
import { eventually } from "../support/eventually.ts";
import { PocketMQProcess } from "../support/pocketmq_process.ts";
import {
  openFileCount,
  plateauBytes,
  processorMs,
  residentBytes,
} from "../support/process_figures.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

/** The promise is the executable's; V8 under Deno breathes more. */
const isExecutable = process.env.TEST_PROGRAM !== "deno";
const JUNK = Number(
  process.env.TEST_HA_JUNK ?? (isExecutable ? 20_000 : 4_000),
);
const RESETS = JUNK / 4;
const AT_ONCE = 100;
const FALSE_MASTER_MS = Number(process.env.TEST_FALSE_MASTER_MS ?? 4_000);
const MIB = 1_048_576;
const NAMESRV = [
  "namesrv",
  "--bind",
  "127.0.0.1",
  "--set",
  "listenPort=0",
];
const GROWTH_BYTES_MAX = 10 * MIB;
const PATIENCE = { timeoutMs: 60_000 };

/** One stranger: says 19 bytes or nothing, then closes or resets. */
function stranger(port: number, number: number, text: string) {
  return new Promise<void>((resolve) => {
    // Other addresses of 127/8 have ports of their own.
    const localAddress = `127.0.${1 + number % 200}.1`;
    const socket = connect({ host: "127.0.0.1", port, localAddress }, () => {
      const end = () => {
        if (number % 2 === 0 || text === "") socket.resetAndDestroy();
        else socket.destroy();
      };
      if (text === "") end();
      else socket.write(text, end);
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}

async function strangers(port: number, count: number, text: string) {
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(
      Array.from(
        { length: AT_ONCE },
        (_, index) => stranger(port, from + index, text),
      ),
    );
  }
}

async function sendCode(broker: PocketMQProcess): Promise<number> {
  const client = await RawClient.open(broker.address("broker"));
  const { code } = await client.send("T", 0, new Uint8Array(100));
  client.close();
  return code;
}

/** The slave is in sync and has never been away. */
async function isUndisturbed(master: PocketMQProcess, slave: PocketMQProcess) {
  await eventually(
    async () => (await haOf(master)).haConnectionInfo.length === 1,
    PATIENCE,
  );
  const told = () => master.stderr + slave.stderr;
  assertEquals((await haOf(slave)).haClientRuntimeInfo.reconnects, 0, told());
  assertEquals((await haOf(master)).inSyncSlaveNums, 1, told());
  assertEquals(await sendCode(master), 0);
}

/** A slave of the broker, and nothing else. */
function startSlave(folder: string, ...settings: string[]) {
  return startBrokerProcess(
    folder,
    "brokerRole=SLAVE",
    "brokerId=1",
    ...settings,
  );
}

test(`4, 5: ${JUNK} strangers on the HA port and ${RESETS} resets on every port leave nothing behind`, () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const namesrv = await keep(PocketMQProcess.start(NAMESRV));
      const master = await keep(
        startBrokerProcess(`${folder}/m`, "brokerRole=SYNC_MASTER"),
      );
      const haMasterAddress = `haMasterAddress=${master.address("ha")}`;
      const slave = await keep(
        startSlave(`${folder}/s`, haMasterAddress),
      );
      await eventually(
        async () => (await haOf(master)).inSyncSlaveNums === 1,
        PATIENCE,
      );
      const text = "GET / HTTP/1.1\r\n\r\n.";
      // What a process takes once and keeps is there before it is measured.
      await strangers(master.port("ha"), JUNK / 10, text);
      await isUndisturbed(master, slave);
      const files = openFileCount(master.pid);
      const junk = () => strangers(master.port("ha"), JUNK, text);
      // V8 under Deno keeps what it took: it must stop taking.
      if (!isExecutable) await plateauBytes(master.pid, GROWTH_BYTES_MAX, junk);
      const before = residentBytes(master.pid);
      if (isExecutable) await junk();
      await isUndisturbed(master, slave);
      for (const name of ["ha", "broker", "namesrv"]) {
        const port = (name === "namesrv" ? namesrv : master).port(name);
        await strangers(port, RESETS, "");
      }
      await isUndisturbed(master, slave);
      // Memory is given back with the program's own look at whether it is idle.
      await eventually(
        () =>
          !isExecutable ||
          residentBytes(master.pid) - before <= GROWTH_BYTES_MAX,
        PATIENCE,
      );
      if (files !== null) {
        await eventually(() => openFileCount(master.pid)! <= files + 5);
      }
      const names = await RawClient.open(namesrv.address("namesrv"));
      assertEquals((await names.invoke(106)).code, 0);
      names.close();
      for (const it of [slave, master, namesrv]) {
        assert(!/uncaught|unhandled/i.test(it.stderr), it.stderr);
        assertEquals(await it.stop(), 0);
      }
    })
  ));

function frame(phyOffset: number, bodySize: number): Uint8Array {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setBigInt64(0, BigInt(phyOffset));
  view.setInt32(8, bodySize);
  return bytes;
}

/** What a false master does with the slave's link, at its first report. */
const FALSE_MASTERS: Record<string, (socket: Socket) => void> = {
  "closes at accept": (socket) => socket.destroy(),
  "sends 5 of 12 bytes, then FIN": (socket) =>
    socket.once("data", () => socket.end(new Uint8Array(5))),
  "announces size 0 elsewhere": (socket) =>
    socket.once("data", () => socket.write(frame(777, 0))),
  "announces size -1": (socket) =>
    socket.once("data", () => socket.write(frame(0, -1))),
  "announces size 2^31-1": (socket) =>
    socket.once("data", () => socket.write(frame(0, 2 ** 31 - 1))),
};

/** Listens as a false master; counts links, and does what it was told with each. */
class FalseMaster {
  links = 0;
  onLink: (socket: Socket) => void = (socket) => socket.destroy();
  readonly #server = createServer((socket) => {
    this.links++;
    socket.on("error", () => {});
    this.onLink(socket);
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) =>
      this.#server.listen(0, "127.0.0.1", resolve)
    );
    this.#server.unref();
    return `127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  close(): void {
    this.#server.close();
  }
}

/** Processor time and links that a false master costs the slave in its time. */
async function isCalm(name: string, slave: PocketMQProcess, it: FalseMaster) {
  it.onLink = FALSE_MASTERS[name]!;
  const links = it.links;
  await eventually(() => it.links > links, PATIENCE);
  it.links = 0;
  const before = processorMs(slave.pid) ?? 0;
  await new Promise((resolve) => setTimeout(resolve, FALSE_MASTER_MS));
  const used = (processorMs(slave.pid) ?? 0) - before;
  const most = FALSE_MASTER_MS * 0.05;
  if (isExecutable) assert(used <= most, `${name}: ${used} ms`);
  const linksMost = 1 + FALSE_MASTER_MS / 500;
  assert(it.links <= linksMost, `${name}: ${it.links} links`);
  const { haClientRuntimeInfo } = await haOf(slave);
  assertEquals(haClientRuntimeInfo.maxOffset, 0, name);
  assert(haClientRuntimeInfo.lastError !== null, name);
}

test("9: a slave stays calm with false masters, and follows the true one afterwards", () =>
  withTempDirectory((folder) =>
    withProcesses(async (keep) => {
      const master = await keep(startBrokerProcess(`${folder}/m`));
      const falseMaster = new FalseMaster();
      const slave = await keep(startSlave(
        `${folder}/s`,
        `haMasterAddress=${await falseMaster.listen()}`,
        `masterAddress=${master.address("broker")}`,
      ));
      assertEquals(await sendCode(master), 0);
      for (const name of Object.keys(FALSE_MASTERS)) {
        await isCalm(name, slave, falseMaster);
      }
      falseMaster.onLink = (socket) => {
        const [host, port] = master.address("ha").split(":");
        const far = connect(Number(port), host!);
        far.on("error", () => {});
        socket.pipe(far).pipe(socket);
      };
      await eventually(async () => {
        const [ours, theirs] = [await haOf(slave), await haOf(master)];
        return ours.state === "healthy" &&
          ours.haClientRuntimeInfo.maxOffset ===
            theirs.masterCommitLogMaxOffset;
      }, PATIENCE);
      assertEquals(await slave.stop(), 0);
      assertEquals(await master.stop(), 0);
      falseMaster.close();
    })
  ));
