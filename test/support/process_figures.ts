/** What the system says of a running process. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { eventually } from "./eventually.ts";

/** What a resident size may sway and count as settled. */
const SETTLED_BYTES = 2 * 1024 * 1024;

/** Clock ticks per second of `/proc/PID/stat`; fixed on Linux. */
const TICKS_PER_SECOND = 100;

/** Resident bytes, from /proc or as `ps` tells them. */
export function residentBytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  const kilobytes = existsSync(status)
    ? /VmRSS:\s+(\d+)/.exec(readFileSync(status, "utf8"))?.[1]
    : String(spawnSync("ps", ["-o", "rss=", "-p", String(pid)]).stdout).trim();
  return Number(kilobytes) * 1024;
}

/** Milliseconds of processor time used so far; null where /proc does not say. */
export function processorMs(pid: number): number | null {
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return null;
  const fields = readFileSync(stat, "utf8").split(") ")[1]!.split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return ticks * 1000 / TICKS_PER_SECOND;
}

/** Open descriptors; null where /proc does not say. */
export function openFileCount(pid: number): number | null {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return null;
  const { stdout } = spawnSync("ls", [folder]);
  return String(stdout).trim().split("\n").length;
}

/** Rounds of the same work in which memory that only breathes comes to rest. */
const ROUNDS_MAX = 8;

/**
 * Repeats `round` until it leaves the process less than `growthMax` bytes above the highest so
 * far; a leak grows with every round, V8's heap only with the first ones. Resolves with the
 * highest. Rejects after eight rounds.
 */
export async function plateauBytes(
  pid: number,
  growthMax: number,
  round: () => Promise<unknown>,
): Promise<number> {
  const seen = [residentBytes(pid)];
  for (let number = 0; number < ROUNDS_MAX; number++) {
    await round();
    const bytes = residentBytes(pid);
    const highest = Math.max(...seen);
    seen.push(bytes);
    if (bytes - highest < growthMax) return Math.max(...seen);
  }
  throw new Error(`Memory grows with every round: ${seen.join(", ")} bytes`);
}

/**
 * Resident bytes once they have stayed within 2 MiB for two of the program's own looks at
 * whether it is idle (10 s each): neither before nor in the moment of giving memory back.
 */
export async function settledBytes(pid: number): Promise<number> {
  let since = Date.now();
  let bytes = residentBytes(pid);
  await eventually(() => {
    const now = residentBytes(pid);
    if (Math.abs(now - bytes) > SETTLED_BYTES) {
      bytes = now;
      since = Date.now();
    }
    return Date.now() - since >= 21_000;
  }, { timeoutMs: 120_000 });
  return bytes;
}
