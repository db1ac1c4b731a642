/** A master and its slaves, ours or Apache's, as the case `replicate` starts and watches them. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { ApacheBroker } from "../interop/apache_broker.ts";
import { OurBroker } from "../interop/our_broker.ts";
import { RawClient } from "../support/raw_client.ts";

const GET_BROKER_RUNTIME_INFO = 28;
const POLL_MS = 25;
const CATCH_UP_MAX_MS = 60_000;

/** Apache's own file sizes, which `pocketmq broker` has too. */
const FILES: Record<string, string> = {
  mappedFileSizeCommitLog: "1073741824",
  maxMessageSize: "4194304",
  mappedFileSizeConsumeQueue: "6000000",
  maxHashSlotNum: "5000000",
  maxIndexNum: "20000000",
};

/** As Apache's runbroker.sh has them, with a heap that two brokers on a small machine can have. */
const JAVA_FLAGS = [
  "-server",
  "-Xms1g",
  "-Xmx1g",
  "-Xmn512m",
  "-XX:MaxDirectMemorySize=1g",
  "-XX:+UseG1GC",
  "-XX:G1HeapRegionSize=16m",
  "-XX:G1ReservePercent=25",
  "-XX:InitiatingHeapOccupancyPercent=30",
  "-XX:SoftRefLRUPolicyMSPerMB=0",
];

export type Kind = "pocketmq" | "apache";
export type Role = "ASYNC_MASTER" | "SYNC_MASTER" | "SLAVE";

/** One broker process. */
export interface BenchBroker {
  readonly port: number;
  readonly haAddress: string;
  readonly pid: number;
  /** Its log, file by file. */
  readonly logFolder: string;
  stop(signal?: NodeJS.Signals): Promise<unknown>;
}

/** How to start the brokers of one pair. */
export interface PairOptions {
  readonly kind: Kind;
  readonly brokerName: string;
  /** A slave of Apache's 5.x finds its master through a name server only. */
  readonly namesrv: string;
}

/** Starts a broker on `folder`; a slave of `master`. */
export async function startBroker(
  { kind, brokerName, namesrv }: PairOptions,
  folder: string,
  role: Role,
  master?: BenchBroker,
): Promise<BenchBroker> {
  const settings = {
    ...FILES,
    // A 5.x SYNC_MASTER of Apache's would not wait for anybody.
    ...(role === "SYNC_MASTER" ? { inSyncReplicas: "2" } : {}),
    ...(master === undefined || kind === "apache"
      ? {}
      : { haMasterAddress: master.haAddress }),
  };
  const options = { folder, namesrv, brokerName, role, settings };
  const broker = kind === "pocketmq"
    ? await OurBroker.start({ ...options, namesrv: "" })
    : await ApacheBroker.start({
      ...options,
      version: "5.5.0",
      javaFlags: JAVA_FLAGS,
    });
  return {
    port: broker.listenPort,
    haAddress: broker.haAddress,
    pid: broker.process.pid,
    logFolder: `${broker.storePath}/commitlog`,
    stop: (signal) => broker.stop(signal),
  };
}

/** How far a broker's log and its dispatch have come. */
export interface Progress {
  readonly maxOffset: number;
  readonly dispatchBehindBytes: number;
}

/** Asks a broker, ours or Apache's, again and again. */
export class ProgressMeter {
  readonly #client: RawClient;

  private constructor(client: RawClient) {
    this.#client = client;
  }

  static async open(broker: BenchBroker): Promise<ProgressMeter> {
    return new ProgressMeter(
      await RawClient.open(`127.0.0.1:${broker.port}`),
    );
  }

  async read(): Promise<Progress> {
    let answer = await this.#client.invoke(GET_BROKER_RUNTIME_INFO);
    // Apache's has no figures in its first seconds, and fails then.
    for (let tries = 0; answer.code !== 0 && tries < 500; tries++) {
      await Bun.sleep(POLL_MS);
      answer = await this.#client.invoke(GET_BROKER_RUNTIME_INFO);
    }
    const { table } = JSON.parse(new TextDecoder().decode(answer.body));
    return {
      maxOffset: Number(table.commitLogMaxOffset),
      dispatchBehindBytes: Number(table.dispatchBehindBytes),
    };
  }

  /** Polls until `condition` holds; calls it with what was read, and when (milliseconds). */
  async until(
    condition: (progress: Progress, atMs: number) => boolean,
  ): Promise<void> {
    const deadline = performance.now() + CATCH_UP_MAX_MS;
    for (;;) {
      const progress = await this.read();
      const nowMs = performance.now();
      if (condition(progress, nowMs)) return;
      if (nowMs > deadline) {
        throw new Error(`Not caught up in time: ${JSON.stringify(progress)}`);
      }
      await Bun.sleep(POLL_MS);
    }
  }

  close(): void {
    this.#client.close();
  }
}

/** What a catch-up took. */
export interface CatchUp {
  readonly bytes: number;
  readonly seconds: number;
  readonly mbPerSecond: number;
  /** Between the last byte and the last unit of the slave's queues. */
  readonly dispatchMs: number;
}

/**
 * Watches a slave that has just been started until it ends at `endOffset`. Counted from the
 * first look that finds it on its way, so that neither kind's start counts.
 */
export async function watchCatchUp(
  slave: BenchBroker,
  seedOffset: number,
  endOffset: number,
): Promise<CatchUp> {
  const meter = await ProgressMeter.open(slave);
  let first: { offset: number; atMs: number } | undefined;
  let doneMs = 0;
  await meter.until(({ maxOffset }, atMs) => {
    if (maxOffset > seedOffset) first ??= { offset: maxOffset, atMs };
    doneMs = atMs;
    return maxOffset >= endOffset;
  });
  let dispatchedMs = doneMs;
  await meter.until(({ dispatchBehindBytes }, atMs) => {
    dispatchedMs = atMs;
    return dispatchBehindBytes === 0;
  });
  meter.close();
  const bytes = endOffset - first!.offset;
  const seconds = (doneMs - first!.atMs) / 1000;
  return {
    bytes,
    seconds,
    mbPerSecond: bytes / seconds / 1e6,
    dispatchMs: dispatchedMs - doneMs,
  };
}

/**
 * A store of a slave that has followed from the first byte on and was stopped: an Apache slave
 * that begins empty would get the newest file only. Returns where its log ends.
 */
export async function makeSeed(
  pair: PairOptions,
  master: BenchBroker,
  folder: string,
): Promise<number> {
  const slave = await startBroker(pair, folder, "SLAVE", master);
  try {
    const [theirs, ours] = await Promise.all([
      ProgressMeter.open(master),
      ProgressMeter.open(slave),
    ]);
    const { maxOffset } = await theirs.read();
    await ours.until((it) => it.maxOffset >= maxOffset);
    theirs.close();
    ours.close();
    return maxOffset;
  } finally {
    await slave.stop();
  }
}

/** Copies a store without filling the holes of its files. */
export function copyStore(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  const copied = Bun.spawnSync(["cp", "-r", "--sparse=always", from, to]);
  if (copied.exitCode !== 0) throw new Error(String(copied.stderr));
}

/** Begins a new count of the largest resident size; Linux only. */
export function resetPeak(pid: number): void {
  if (existsSync(`/proc/${pid}/clear_refs`)) {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  }
}

/** The largest resident size since `resetPeak`; 0 where nobody counts. */
export function peakRssBytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) return 0;
  const text = readFileSync(status, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024;
}
