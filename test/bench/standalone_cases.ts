/** The cases of one broker: sends, backlog reads, and sends beside a reader of old data. */
import { PocketMQProcess, runPocketMQ } from "../support/pocketmq_process.ts";
import { type BenchRun, BUN, ROUNDS, TOPIC } from "./bench_run.ts";

/** Reads of old data are measured more often: the tail of 5 s is of few sends. */
const COLD_ROUNDS = 5;
/**
 * A reader's own work, on another machine in earnest, is not what is measured: it gets the time
 * that the broker and the sender leave over (SCHED_IDLE), else the least share.
 */
const READER_PRIORITY = Bun.which("chrt") === null
  ? ["nice", "-n", "19"]
  : ["chrt", "-i", "0"];

/** Sends and, if wanted, backlog reads, the broker and the skeleton in turn. */
export async function warmCases(
  run: BenchRun,
  withConsume: boolean,
): Promise<void> {
  const broker = await startBroker(`${run.folder}/warm`);
  const skeleton = await startSkeleton(run.folder);
  const targets = [
    ["pocketmq", broker.port("broker")],
    ["skeleton", skeleton.port],
  ] as const;
  const rounds = async (name: "send" | "consume") => {
    for (let round = 1; round <= ROUNDS; round++) {
      for (const [target, port] of targets) {
        const args = ["--seconds", run.seconds];
        await run.measure(name, target, round, port, args);
      }
    }
    const ratio = name === "send" ? "send_1k" : name;
    run.setRatio(`${ratio}_vs_skeleton`, name, "pocketmq", "skeleton");
  };
  try {
    // Compilers and caches settle first: uncounted.
    for (const [, port] of targets) {
      await run.load("send", port, ["--seconds", "2"]);
    }
    await rounds("send");
    if (withConsume) await rounds("consume");
  } finally {
    await broker.stop();
    skeleton.child.kill();
    await skeleton.child.exited;
  }
}

/** A steady send load alone, then beside readers of a backlog that no cache holds. */
export async function coldCase(run: BenchRun): Promise<void> {
  const folder = `${run.folder}/cold`;
  const broker = await startBroker(folder);
  const port = broker.port("broker");
  const count = run.quick ? "200000" : "1000000";
  // Short enough for the backlog to last.
  const steady = ["--rate", "2000", "--seconds", "5"];
  try {
    await run.load("send", port, ["--count", count, "--seconds", "120"]);
    // Round 0 compiles what the others run: uncounted.
    for (let round = 0; round <= COLD_ROUNDS; round++) {
      await run.measure("cold", "alone", round, port, steady);
      if (!makeCold(folder)) {
        console.log("cold: left out, dd cannot drop files from the page cache");
        return;
      }
      const args = ["--seconds", "5"];
      const reader = run.load("consume", port, args, READER_PRIORITY);
      await run.measure("cold", "beside a cold reader", round, port, steady);
      const read = await reader;
      console.log(
        `          reader: ${Math.round(read.perSecond)} msg/s, ${
          read.mbPerSecond.toFixed(0)
        } MB/s`,
      );
    }
    const beside = "beside a cold reader";
    run.setRatio("cold_reader_p99", "cold", beside, "alone", "p99");
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

async function startBroker(store: string): Promise<PocketMQProcess> {
  const broker = await PocketMQProcess.start([
    "standalone",
    "--store",
    store,
    "--listen-port",
    "0",
    "--namesrv-port",
    "0",
    "--admin-port",
    "0",
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

async function startSkeleton(folder: string) {
  const child = Bun.spawn(
    [BUN, "test/bench/skeleton_server.ts", `${folder}/skeleton.log`],
    { stdout: "pipe", stderr: "inherit" },
  );
  const first = await child.stdout.getReader().read();
  const port = /port (\d+)/.exec(new TextDecoder().decode(first.value))![1];
  return { port: Number(port), child };
}
