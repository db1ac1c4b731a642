/** `posixLock` through bun:ffi. */
import { dlopen, read } from "bun:ffi";
import process from "node:process";
import {
  cLibraryNames,
  errnoSymbol,
  F_TLOCK,
  LOCK_LENGTH,
  lockOutcome,
  type PosixLockOutcome,
} from "./posix_lock.ts";

function openCLibrary() {
  let lastError: unknown;
  for (const name of cLibraryNames(process.platform, process.arch)) {
    try {
      return dlopen(name, {
        lockf: { args: ["i32", "i32", "i64"], returns: "i32" },
        [errnoSymbol(process.platform)]: { args: [], returns: "ptr" },
      });
    } catch (error) {
      lastError = error;
    }
  }
  throw lastError;
}

/** Takes the lock or says why not. The library stays open: the lock does too. */
export function posixLock(descriptor: number): PosixLockOutcome {
  const { symbols } = openCLibrary();
  const lockf = symbols["lockf"] as (
    descriptor: number,
    command: number,
    length: bigint,
  ) => number;
  const errnoAddress = symbols[errnoSymbol(process.platform)] as () => number;
  const result = lockf(descriptor, F_TLOCK, LOCK_LENGTH);
  const errno = read.i32(errnoAddress() as never, 0);
  return lockOutcome(result, errno, process.platform);
}
