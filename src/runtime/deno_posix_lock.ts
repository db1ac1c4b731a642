/** `posixLock` through Deno.dlopen. */
import {
  cLibraryNames,
  errnoSymbol,
  F_TLOCK,
  LOCK_LENGTH,
  lockOutcome,
  type PosixLockOutcome,
} from "./posix_lock.ts";

const OS = Deno.build.os;

function openCLibrary() {
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  let lastError: unknown;
  for (const name of cLibraryNames(OS, arch)) {
    try {
      return Deno.dlopen(name, {
        lockf: { parameters: ["i32", "i32", "i64"], result: "i32" },
        errnoAddress: {
          name: errnoSymbol(OS),
          parameters: [],
          result: "pointer",
        },
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
  const result = symbols.lockf(descriptor, F_TLOCK, LOCK_LENGTH);
  const address = symbols.errnoAddress();
  const errno = address ? new Deno.UnsafePointerView(address).getInt32() : 0;
  return lockOutcome(result, errno, OS);
}
