/** The limit of open files of a Linux process (`ulimit -n`), as `/proc/self/limits` tells it. */
import type { ReadText } from "./cgroup.ts";

/** The soft limit; Infinity for none, and where nobody tells. */
export function openFilesLimit(readText: ReadText): number {
  const text = readText("/proc/self/limits") ?? "";
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return soft === undefined ? Infinity : Number(soft);
}
