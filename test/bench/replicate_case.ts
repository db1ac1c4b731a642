/**
 * The case `replicate`: a slave's catch-up beside a bare copy of the same bytes and beside
 * Apache's pair; sends to a SYNC_MASTER beside those to an ASYNC_MASTER; sends beside a catch-up.
 */
import { rmSync, statfsSync } from "node:fs";
import { prepareInterop } from "../../scripts/interop_tools.ts";
import { PocketMQProcess } from "../support/pocketmq_process.ts";
import {
  type BenchBroker,
  copyStore,
  makeSeed,
  type PairOptions,
  peakRssBytes,
  ProgressMeter,
  resetPeak,
  type Role,
  startBroker,
  watchCatchUp,
} from "./bench_pair.ts";
import { type BenchRun, BUN, ROUNDS } from "./bench_run.ts";

const MIB = 1024 * 1024;
const MESSAGE_SIZE = 1024;
const CATCH_UP_BYTES = 2048 * MIB;
const CATCH_UP_BYTES_QUICK = 256 * MIB;

/** A master with a log to catch up with, and the store that every slave begins from. */
interface Source {
  readonly pair: PairOptions;
  readonly master: BenchBroker;
  readonly folder: string;
  readonly seedOffset: number;
  readonly endOffset: number;
}

/** Runs all three parts. Throws when the disk has no room for them. */
export async function replicateCase(run: BenchRun): Promise<void> {
  checkDisk(run);
  const problem = run.quick ? "quick" : prepareInterop();
  if (problem !== null) console.log(`replicate: without Apache: ${problem}`);
  const namesrv = await PocketMQProcess.start([
    "namesrv",
    "--namesrv-port",
    "0",
    "--bind",
    "127.0.0.1",
    "--set",
    `kvConfigPath=${run.folder}/kvConfig.json`,
  ]);
  const pairOf = (kind: "pocketmq" | "apache", brokerName: string) => ({
    kind,
    brokerName,
    namesrv: namesrv.address("namesrv"),
  });
  const ours = pairOf("pocketmq", "ours");
  const theirs = problem === null ? [pairOf("apache", "theirs")] : [];
  try {
    await catchUps(run, [ours, ...theirs]);
    await syncSends(run, [
      [ours, "ASYNC_MASTER"],
      ...[ours, ...theirs].map((it) => [it, "SYNC_MASTER"] as const),
    ]);
  } finally {
    await namesrv.stop();
  }
}

/** Two masters, and a slave or a copy, each with the whole log; and as much again for sends. */
function checkDisk({ folder, quick }: BenchRun): void {
  const needed = 4 * (quick ? CATCH_UP_BYTES_QUICK : CATCH_UP_BYTES);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= needed) return;
  throw new Error(
    `${folder} has ${bavail * bsize} bytes free, replicate needs ${needed}: ` +
      "set TMPDIR to a folder with more",
  );
}

/** The bare copy, ours and Apache's catch-up in turn. */
async function catchUps(
  run: BenchRun,
  pairs: readonly PairOptions[],
): Promise<void> {
  const sources: Source[] = [];
  try {
    for (const it of pairs) sources.push(await fill(run, it));
    const [ours] = sources;
    for (let round = 0; round <= ROUNDS; round++) {
      await bareCopy(run, round, ours!);
      for (const source of sources) await catchUp(run, round, source);
    }
    for (const it of pairs.length === 2 ? ["copy", "apache"] : ["copy"]) {
      run.setRatio(
        `catchup_vs_${it}`,
        "catch-up",
        "pocketmq",
        it,
        "mbPerSecond",
      );
    }
    await sendsBesideCatchUps(run, ours!);
  } finally {
    for (const { master, folder } of sources) {
      await master.stop("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** A master that has been sent as many messages as a catch-up takes. */
async function fill(run: BenchRun, pair: PairOptions): Promise<Source> {
  const folder = `${run.folder}/${pair.kind}`;
  const master = await startBroker(pair, `${folder}/m`, "ASYNC_MASTER");
  await run.load("send", master.port, ["--count", "1", "--in-flight", "1"]);
  const seedOffset = await makeSeed(pair, master, `${folder}/seed`);
  const bytes = run.quick ? CATCH_UP_BYTES_QUICK : CATCH_UP_BYTES;
  const count = Math.ceil(bytes / MESSAGE_SIZE);
  await run.load("send", master.port, [
    "--count",
    String(count),
    "--seconds",
    "600",
  ]);
  const meter = await ProgressMeter.open(master);
  const { maxOffset: endOffset } = await meter.read();
  meter.close();
  return { pair, master, folder, seedOffset, endOffset };
}

async function catchUp(
  run: BenchRun,
  round: number,
  source: Source,
): Promise<void> {
  const { pair, master, endOffset, seedOffset } = source;
  const { kind } = pair;
  const folder = `${source.folder}/s`;
  copyStore(`${source.folder}/seed`, folder);
  settleDisk(source.folder, endOffset);
  resetPeak(master.pid);
  const slave = await startBroker(pair, folder, "SLAVE", master);
  try {
    const done = await watchCatchUp(slave, seedOffset, endOffset);
    const masterRssBytes = peakRssBytes(master.pid);
    const slaveRssBytes = peakRssBytes(slave.pid);
    const { seconds, mbPerSecond } = done;
    run.rows.push({
      case: "catch-up",
      target: kind,
      round,
      seconds,
      mbPerSecond,
      masterRssBytes,
      slaveRssBytes,
    });
    printCatchUp(
      kind,
      done,
      `  queues ${Math.round(done.dispatchMs)} ms later  peak memory ${
        inMb(masterRssBytes)
      } master, ${inMb(slaveRssBytes)} slave`,
    );
  } finally {
    await slave.stop("SIGKILL"); // Its store goes: nothing to be tidied up.
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Our log, from files over a socket to a file. */
async function bareCopy(
  run: BenchRun,
  round: number,
  { master, folder, endOffset }: Source,
): Promise<void> {
  const program = [BUN, "test/bench/bare_copy.ts"];
  settleDisk(folder, endOffset);
  const source = Bun.spawn(
    [...program, "source", master.logFolder, String(endOffset)],
    { stdout: "pipe", stderr: "inherit" },
  );
  const path = `${folder}/copy`;
  try {
    const first = await source.stdout.getReader().read();
    const port = /port (\d+)/.exec(new TextDecoder().decode(first.value))![1]!;
    const target = Bun.spawn(
      [...program, "target", port, path, String(endOffset)],
      { stdout: "pipe", stderr: "inherit" },
    );
    const { seconds, bytes } = await new Response(target.stdout).json();
    const mbPerSecond = bytes / seconds / 1e6;
    run.rows.push({
      case: "catch-up",
      target: "copy",
      round,
      seconds,
      mbPerSecond,
    });
    printCatchUp("copy", { seconds, mbPerSecond });
  } finally {
    source.kill();
    await source.exited;
    rmSync(path, { force: true });
  }
}

function printCatchUp(
  target: string,
  { seconds, mbPerSecond }: { seconds: number; mbPerSecond: number },
  more = "",
): void {
  console.log(
    `catch-up  ${target.padEnd(20)} ${
      mbPerSecond.toFixed(0).padStart(8)
    } MB/s ${seconds.toFixed(2).padStart(7)} s${more}`,
  );
}

function inMb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

/**
 * The same beginning for everyone: nothing is left to be written to the disk, and the memory that
 * the page cache is going to take has just been used (a hypervisor gives fresh memory slowly).
 */
function settleDisk(folder: string, bytes: number): void {
  Bun.spawnSync(["sync"]);
  const path = `${folder}/settle`;
  const count = Math.ceil(bytes / MIB);
  Bun.spawnSync([
    "dd",
    "if=/dev/zero",
    `of=${path}`,
    "bs=1M",
    `count=${count}`,
  ]);
  rmSync(path, { force: true });
}

/** A steady load alone, then while slaves catch up, one after the other. */
async function sendsBesideCatchUps(
  run: BenchRun,
  source: Source,
): Promise<void> {
  const { master } = source;
  const steady = ["--rate", "2000", "--seconds", run.quick ? "3" : "10"];
  for (let round = 0; round <= ROUNDS; round++) {
    await run.measure("beside", "alone", round, master.port, steady);
    let isOver = false;
    let count = 0;
    const catchingUp = (async () => {
      while (!isOver) {
        const folder = `${source.folder}/s`;
        copyStore(`${source.folder}/seed`, folder);
        const slave = await startBroker(source.pair, folder, "SLAVE", master);
        yieldToOthers(slave.pid);
        const { seedOffset, endOffset } = source;
        await watchCatchUp(slave, seedOffset, endOffset);
        await slave.stop();
        rmSync(folder, { recursive: true, force: true });
        count++;
      }
    })();
    await run.measure("beside", "a catch-up", round, master.port, steady);
    isOver = true;
    await catchingUp;
    console.log(`          ${count} catch-ups meanwhile`);
  }
  run.setRatio("catchup_send_p99", "beside", "a catch-up", "alone", "p99");
}

/** In earnest a slave has a machine of its own: it gets the time that the others leave over. */
function yieldToOthers(pid: number): void {
  Bun.spawnSync(["chrt", "-a", "-i", "-p", "0", String(pid)]);
}

/** The same load on every master, each with one slave that is in sync. */
async function syncSends(
  run: BenchRun,
  wanted: readonly (readonly [PairOptions, Role])[],
): Promise<void> {
  const masters: { target: string; port: number }[] = [];
  const brokers: BenchBroker[] = [];
  try {
    for (const [pair, role] of wanted) {
      const target = `${pair.kind} ${role}`;
      const folder = `${run.folder}/${pair.kind}-${role}`;
      const named = { ...pair, brokerName: `${pair.kind}-${role}` };
      const master = await startBroker(named, `${folder}/m`, role);
      brokers.unshift(master);
      brokers.unshift(
        await startBroker(named, `${folder}/s`, "SLAVE", master),
      );
      masters.push({ target, port: master.port });
      await accepted(run, master.port);
    }
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { target, port } of masters) {
        const args = ["--seconds", run.seconds];
        await run.measure("sync", target, round, port, args);
      }
    }
  } finally {
    for (const it of brokers) await it.stop("SIGKILL");
  }
  const [async, ours, theirs] = masters.map((it) => it.target);
  run.setRatio("sync_master_vs_async", "sync", ours!, async!);
  run.setRatio("sync_master_p99_vs_async", "sync", ours!, async!, "p99");
  if (theirs === undefined) return;
  run.setRatio("sync_master_vs_apache", "sync", ours!, theirs);
  run.setRatio("sync_master_p99_vs_apache", "sync", ours!, theirs, "p99");
}

/** Resolves once a send is acknowledged: the slave is there. */
async function accepted(run: BenchRun, port: number): Promise<void> {
  for (;;) {
    try {
      await run.load("send", port, ["--count", "1", "--in-flight", "1"]);
      return;
    } catch {
      await Bun.sleep(200);
    }
  }
}
