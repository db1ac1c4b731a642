/**
 * Leak check: no test may leave a descriptor (file or socket) open. Neither
 * test runner reports one. Linux only; elsewhere the check passes.
 *
 * Deno runs test files side by side in one process, so a test counts only what
 * is its own: files below its folder, sockets at its address.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { eventually } from "./eventually.ts";

const DESCRIPTORS = "/proc/self/fd";

/** What every open descriptor points to. */
function openTargets(): string[] {
  if (!existsSync(DESCRIPTORS)) return [];
  return readdirSync(DESCRIPTORS).flatMap((name) => {
    try {
      return [readlinkSync(`${DESCRIPTORS}/${name}`)];
    } catch {
      return []; // The descriptor that read the folder.
    }
  });
}

/** `socket:[inode]` of the IPv4 sockets with `address` at one of their ends. */
function socketsAt(address: string): Set<string> {
  const hex = address.split(".").reverse()
    .map((it) => Number(it).toString(16).padStart(2, "0")).join("")
    .toUpperCase();
  const sockets = new Set<string>();
  for (const line of readFileSync("/proc/self/net/tcp", "utf8").split("\n")) {
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
    const isOurs = local?.startsWith(hex) || remote?.startsWith(hex);
    if (isOurs) sockets.add(`socket:[${inode}]`);
  }
  return sockets;
}

async function untilNone(leaked: () => string[]): Promise<void> {
  try {
    await eventually(() => leaked().length === 0, { timeoutMs: 1000 });
  } catch {
    throw new Error(`Left open: ${leaked().join(", ")}`);
  }
}

/** Runs `use` and fails when it leaves a file open below `folder`. */
export async function withoutOpenFiles<T>(
  folder: string,
  use: () => T | Promise<T>,
): Promise<T> {
  const result = await use();
  await untilNone(() =>
    openTargets().filter((it) => it.startsWith(`${folder}/`))
  );
  return result;
}

/** Runs `use` and fails when it leaves a socket open at an address that is its own. */
export async function withoutOpenSockets<T>(
  address: string,
  use: () => T | Promise<T>,
): Promise<T> {
  const result = await use();
  await untilNone(() => {
    const open = openTargets().filter((it) => it.startsWith("socket:"));
    if (open.length === 0) return [];
    const ours = socketsAt(address);
    return open.filter((it) => ours.has(it));
  });
  return result;
}
