/** What the system says of a running process. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { eventually } from "./eventually.ts";

/** What a resident size may sway and count as settled. */
const SETTLED_BYTES = 2 * 1024 * 1024;
const LOOK_MS = 11_000;
const LOOKS_MAX = 12;

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
 * The median of what is resident over one of the program's own looks at whether it is idle (10 s
 * each), once that of the look before is within 2 MiB of it. In between, the
 * runtime's collections map code that the next look gives back.
 */
export async function settledBytes(pid: number): Promise<number> {
  let before = await medianBytes(pid);
  for (let look = 0; look < LOOKS_MAX; look++) {
    const bytes = await medianBytes(pid);
    if (Math.abs(bytes - before) <= SETTLED_BYTES) {
      return bytes;
    }
    before = bytes;
  }
  throw new Error(`Memory of ${pid} does not settle, at ${before} bytes`);
}

async function medianBytes(pid: number): Promise<number> {
  const seen: number[] = [];
  const end = Date.now() + LOOK_MS;
  await eventually(() => {
    seen.push(residentBytes(pid));
    return Date.now() >= end;
  }, { timeoutMs: 2 * LOOK_MS });
  return seen.sort((a, b) => a - b)[seen.length >> 1]!;
}
