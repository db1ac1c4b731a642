/**
 * PosixLock: the record lock that Java's FileChannel.tryLock takes.
 *
 * lockf(3) is fcntl(F_SETLK) under another name (glibc, musl and macOS alike)
 * with plain arguments: it needs neither the layout of struct flock nor a
 * variadic call, which foreign-function interfaces cannot make everywhere.
 */

/** `held`: another process has it. */
export type PosixLockOutcome = "taken" | "held" | { readonly errno: number };

/** Locks byte 0 for writing; the descriptor's position is 0. */
export type PosixLock = (descriptor: number) => PosixLockOutcome;

/** `lockf` command: lock for writing, or fail at once. */
export const F_TLOCK = 2;

/** As RocketMQ: byte 0 only. */
export const LOCK_LENGTH = 1n;

/** Where `lockf` lives. */
export function cLibraryNames(os: string, arch: string): readonly string[] {
  if (os === "darwin") return ["libSystem.B.dylib"];
  const muslArch = arch === "arm64" ? "aarch64" : "x86_64";
  return ["libc.so.6", `libc.musl-${muslArch}.so.1`];
}

/** Name of the function that tells where errno is. */
export function errnoSymbol(os: string): "__error" | "__errno_location" {
  return os === "darwin" ? "__error" : "__errno_location";
}

const EACCES = 13;
/** EAGAIN by system. */
const EAGAIN: Readonly<Record<string, number>> = { linux: 11, darwin: 35 };

/** Reads what `lockf` answered. */
export function lockOutcome(
  result: number,
  errno: number,
  os: string,
): PosixLockOutcome {
  if (result === 0) return "taken";
  if (errno === EAGAIN[os] || errno === EACCES) return "held";
  return { errno };
}
