/**
 * Leak check: no test may leave a descriptor (file or socket) open. Neither
 * test runner reports one. Linux only; elsewhere the check passes.
 */
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { eventually } from "./eventually.ts";

const DESCRIPTORS = "/proc/self/fd";

/** What every open descriptor points to, of the kinds that a test can leak. */
function openThings(): Map<string, string> {
  const things = new Map<string, string>();
  if (!existsSync(DESCRIPTORS)) return things;
  for (const name of readdirSync(DESCRIPTORS)) {
    try {
      const target = readlinkSync(`${DESCRIPTORS}/${name}`);
      const isOurs = target.startsWith("socket:") ||
        (target.startsWith("/") && !/^\/(proc|dev|sys)\//.test(target));
      if (isOurs) things.set(`${name} ${target}`, target);
    } catch {
      // The descriptor that read the folder.
    }
  }
  return things;
}

/** Runs `use` and fails when it leaves a file or socket open. */
export async function withoutLeaks<T>(use: () => T | Promise<T>): Promise<T> {
  const before = openThings();
  const result = await use();
  const leaked = () => [...openThings().keys()].filter((it) => !before.has(it));
  try {
    await eventually(() => leaked().length === 0, { timeoutMs: 1000 });
  } catch {
    throw new Error(`Left open: ${leaked().join(", ")}`);
  }
  return result;
}
