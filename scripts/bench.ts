/**
 * Side-by-side measurements: `scripts/bench [send|consume|cold ...|quick]
 * [--seconds N] [--json FILE]`. Every case runs the broker and, in the same
 * run and in turn with it, what it is compared with; ratios are ours by theirs.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { parseArgs } from "node:util";
import {
  PocketMQProcess,
  runPocketMQ,
} from "../test/support/pocketmq_process.ts";

const BUN = "node_modules/.bin/bun";
const ROUNDS = 3;
const TOPIC = "BenchTopic";
/** Reads of old data are measured more often: the tail of 5 s is of few sends. */
const COLD_ROUNDS = 5;
/**
 * A reader's own work, on another machine in earnest, is not what is measured: it gets the time
 * that the broker and the sender leave over (SCHED_IDLE), else the least share.
 */
const READER_PRIORITY = Bun.which("chrt") === null
  ? ["nice", "-n", "19"]
  : ["chrt", "-i", "0"];
const CASES = ["send", "consume", "cold"] as const;
type CaseName = (typeof CASES)[number];

/** What the load generator prints. */
interface LoadResult {
  messages: number;
  failures: number;
  lastCode?: number;
  seconds: number;
  perSecond: number;
  mbPerSecond: number;
  p50: number;
  p99: number;
  p999: number;
}

interface Row extends LoadResult {
  case: string;
  target: string;
  round: number;
}

const { values, positionals } = commandLine();
const quick = positionals.includes("quick");
const seconds = quick ? "2" : values.seconds;
const wanted = casesOf(positionals.filter((it) => it !== "quick"));
const rows: Row[] = [];
const ratios: Record<string, number> = {};
const folder = mkdtempSync(`${tmpdir()}/pocketmq-bench-`);

try {
  const built = Bun.spawnSync([BUN, "scripts/build.ts"]);
  if (built.exitCode !== 0) throw new Error(String(built.stderr));
  if (wanted.includes("send") || wanted.includes("consume")) await warm();
  if (wanted.includes("cold")) await cold();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, ratio] of Object.entries(ratios)) {
  console.log(`${name} ${ratio.toFixed(2)}`);
}
if (values.json !== undefined) {
  const machine = {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
  };
  writeFileSync(
    values.json,
    `${JSON.stringify({ machine, cases: rows, ratios }, null, 2)}\n`,
  );
}

function commandLine() {
  try {
    const parsed = parseArgs({
      args: process.argv.slice(2),
      allowPositionals: true,
      options: {
        seconds: { type: "string", default: "5" },
        json: { type: "string" },
      },
    });
    if (!(Number(parsed.values.seconds) > 0)) {
      throw new Error(
        `--seconds ${parsed.values.seconds} is no positive number`,
      );
    }
    return parsed;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(2);
  }
}

function casesOf(names: string[]): readonly CaseName[] {
  for (const name of names) {
    if (!CASES.includes(name as CaseName)) {
      console.error(`Unknown case ${name}: use ${CASES.join(", ")} or quick`);
      process.exit(2);
    }
  }
  if (names.length > 0) return names as CaseName[];
  return quick ? ["send", "consume"] : CASES;
}

/** Sends and backlog reads, the broker and the skeleton in turn. */
async function warm(): Promise<void> {
  const broker = await startBroker("warm", []);
  const skeleton = await startSkeleton();
  const targets = [
    ["pocketmq", broker.port("broker")],
    ["skeleton", skeleton.port],
  ] as const;
  try {
    // Compilers and caches settle first: uncounted.
    for (const [, port] of targets) {
      await load("send", port, ["--seconds", "2"]);
    }
    for (let round = 1; round <= ROUNDS; round++) {
      for (const [target, port] of targets) {
        await measure("send", target, round, port, ["--seconds", seconds]);
      }
    }
    ratios.send_1k_vs_skeleton = ratioOf("send", "pocketmq", "skeleton");
    if (!wanted.includes("consume")) return;
    for (let round = 1; round <= ROUNDS; round++) {
      for (const [target, port] of targets) {
        await measure("consume", target, round, port, ["--seconds", seconds]);
      }
    }
    ratios.consume_vs_skeleton = ratioOf("consume", "pocketmq", "skeleton");
  } finally {
    await broker.stop();
    skeleton.child.kill();
    await skeleton.child.exited;
  }
}

/** A steady send load alone, then beside readers of a backlog that no cache holds. */
async function cold(): Promise<void> {
  const broker = await startBroker("cold", []);
  const port = broker.port("broker");
  // Short enough for the backlog to last.
  const steady = ["--rate", "2000", "--seconds", "5"];
  try {
    await load("send", port, [
      "--count",
      quick ? "200000" : "1000000",
      "--seconds",
      "120",
    ]);
    // Round 0 compiles what the others run: uncounted.
    for (let round = 0; round <= COLD_ROUNDS; round++) {
      await measure("cold", "alone", round, port, steady);
      if (!makeCold(`${folder}/cold`)) {
        console.log("cold: left out, dd cannot drop files from the page cache");
        return;
      }
      const reader = load(
        "consume",
        port,
        ["--seconds", "5"],
        READER_PRIORITY,
      );
      await measure("cold", "beside a cold reader", round, port, steady);
      const read = await reader;
      console.log(
        `        reader: ${Math.round(read.perSecond)} msg/s, ${
          read.mbPerSecond.toFixed(0)
        } MB/s`,
      );
    }
    ratios.cold_reader_p99 = ratioOf(
      "cold",
      "beside a cold reader",
      "alone",
      "p99",
    );
  } finally {
    await broker.stop();
  }
}

/**
 * Takes the log and its queues out of the page cache, file by file: dropping everything would
 * also make the broker read its own code from the disk. False where `dd` cannot do it.
 */
function makeCold(store: string): boolean {
  Bun.spawnSync(["sync"]);
  for (const part of ["commitlog", "consumequeue"]) {
    for (const name of new Bun.Glob("**").scanSync(`${store}/${part}`)) {
      const file = `${store}/${part}/${name}`;
      const dropped = Bun.spawnSync([
        "dd",
        `if=${file}`,
        "of=/dev/null",
        "iflag=nocache",
        "count=0",
        "status=none",
      ]);
      if (dropped.exitCode !== 0) return false;
    }
  }
  return true;
}

async function startBroker(
  name: string,
  args: string[],
): Promise<PocketMQProcess> {
  const broker = await PocketMQProcess.start([
    "standalone",
    "--store",
    `${folder}/${name}`,
    "--listen-port",
    "0",
    "--namesrv-port",
    "0",
    "--admin-port",
    "0",
    ...args,
  ]);
  const made = await runPocketMQ([
    "topic",
    "create",
    TOPIC,
    "-n",
    broker.address("namesrv"),
  ]);
  if (made.code !== 0) throw new Error(made.stderr);
  return broker;
}

async function startSkeleton(): Promise<
  { port: number; child: ReturnType<typeof Bun.spawn> }
> {
  const child = Bun.spawn(
    [BUN, "test/bench/skeleton_server.ts", `${folder}/skeleton.log`],
    { stdout: "pipe", stderr: "inherit" },
  );
  const first = await child.stdout.getReader().read();
  const port = /port (\d+)/.exec(new TextDecoder().decode(first.value))![1];
  return { port: Number(port), child };
}

async function load(
  kind: "send" | "consume",
  port: number,
  args: string[],
  priority: readonly string[] = [],
): Promise<LoadResult> {
  const child = Bun.spawn([
    ...priority,
    BUN,
    "test/bench/load_client.ts",
    kind,
    "--port",
    String(port),
    "--topic",
    TOPIC,
    ...args,
  ], { stdout: "pipe", stderr: "inherit" });
  const text = await new Response(child.stdout).text();
  if (await child.exited !== 0) throw new Error(`The ${kind} load failed`);
  const result = JSON.parse(text) as LoadResult;
  if (result.failures > 0) {
    throw new Error(
      `${result.failures} requests of the ${kind} load failed, the last with code ${result.lastCode}`,
    );
  }
  return result;
}

async function measure(
  name: CaseName,
  target: string,
  round: number,
  port: number,
  args: string[],
): Promise<void> {
  const result = await load(name === "consume" ? name : "send", port, args);
  rows.push({ case: name, target, round, ...result });
  console.log(
    `${name.padEnd(7)} ${target.padEnd(20)} ${
      Math.round(result.perSecond).toString().padStart(8)
    } msg/s ${result.mbPerSecond.toFixed(1).padStart(7)} MB/s  p50 ${
      result.p50.toFixed(2)
    } ms  p99 ${result.p99.toFixed(2)} ms  p99.9 ${result.p999.toFixed(2)} ms`,
  );
}

/** Median over the rounds of ours by theirs: what slows a round down slows both. */
function ratioOf(
  name: CaseName,
  ours: string,
  theirs: string,
  field: "perSecond" | "p99" = "perSecond",
): number {
  const of = (target: string) =>
    rows.filter((it) =>
      it.case === name && it.target === target && it.round > 0
    )
      .map((it) => it[field]);
  const others = of(theirs);
  const all = of(ours).map((it, round) => it / others[round]!)
    .sort((a, b) => a - b);
  return all[Math.floor(all.length / 2)] ?? 0;
}
