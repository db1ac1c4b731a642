/** One `pocketmq broker` process on free loopback ports, with small log files. */
import { spawnSync } from "node:child_process";
import { PocketMQProcess } from "./pocketmq_process.ts";

/** Starts it; `settings` are `key=value`. */
export function startBrokerProcess(
  folder: string,
  ...settings: string[]
): Promise<PocketMQProcess> {
  const all = [
    "brokerName=broker-a",
    "mappedFileSizeCommitLog=1M",
    "maxMessageSize=64K",
    ...settings,
  ];
  return PocketMQProcess.start([
    "broker",
    "--bind",
    "127.0.0.1",
    "--listen-port",
    "0",
    "--admin-port",
    "0",
    "--store",
    folder,
    ...all.flatMap((it) => ["--set", it]),
  ]);
}

/** Starts processes for `run` and ends all of them after it, whatever happens. */
export async function withProcesses(
  run: (
    keep: (started: Promise<PocketMQProcess>) => Promise<PocketMQProcess>,
  ) => Promise<void>,
): Promise<void> {
  const started: PocketMQProcess[] = [];
  try {
    await run(async (starting) => {
      const it = await starting;
      started.unshift(it);
      return it;
    });
  } finally {
    for (const it of started) await it.stop("SIGKILL");
  }
}

/** What `/admin/ha` says. */
// deno-lint-ignore no-explicit-any
export async function haOf(broker: PocketMQProcess): Promise<any> {
  const answer = await fetch(`http://${broker.address("admin")}/admin/ha`);
  return await answer.json();
}

/**
 * From now on no file of the process may grow beyond `bytes` (null: any size): writes fail as on
 * a disk that is full or read-only, without a mount. False where it cannot be done.
 */
export function limitFileSize(pid: number, bytes: number | null): boolean {
  const limit = `--fsize=${bytes ?? "unlimited"}:`;
  const { status } = spawnSync("prlimit", ["--pid", String(pid), limit]);
  return status === 0;
}
