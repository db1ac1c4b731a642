/**
 * releaseIdleMemory: collects garbage, and unmaps code of the executable that is not running.
 *
 * A start runs through 35 MB of the runtime's code, an idle broker through half of that. Code
 * pages are clean copies of the file, so MADV_DONTNEED loses nothing: what runs again is mapped
 * again from the page cache, at a microsecond a page.
 */
import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";
import process from "node:process";
import { cleanCodeMappings } from "./code_mappings.ts";
import { cLibraryNames } from "./posix_lock.ts";

const MADV_DONTNEED = 4;

let unmapCode: (() => void) | undefined;

/** Safe at any time; holds the loop up while it runs. */
export function releaseIdleMemory(what: "code" | "all"): void {
  if (what === "all") Bun.gc(true);
  unmapCode ??= codeUnmapper();
  unmapCode();
}

/** Does nothing where the kernel is not Linux or says no. */
function codeUnmapper(): () => void {
  if (process.platform !== "linux") return () => {};
  try {
    const smaps = readFileSync("/proc/self/smaps", "utf8");
    const mappings = cleanCodeMappings(smaps, process.execPath);
    const madvise = openMadvise();
    return () => {
      for (const { start, size } of mappings) {
        madvise(start, size, MADV_DONTNEED);
      }
    };
  } catch {
    // A gain is missed, nothing is lost: /proc or the C library are not as on Linux proper.
    return () => {};
  }
}

type Madvise = (start: bigint, size: bigint, advice: number) => number;

function openMadvise(): Madvise {
  let lastError: unknown;
  for (const name of cLibraryNames(process.platform, process.arch)) {
    try {
      return dlopen(name, {
        madvise: { args: ["u64", "u64", "i32"], returns: "i32" },
      }).symbols.madvise as Madvise;
    } catch (error) {
      lastError = error;
    }
  }
  throw lastError;
}
