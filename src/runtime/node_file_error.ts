/** The errors of node:fs, and of the C library by errno, as `FileError`. */
import { FileError, type FileErrorKind } from "../io/file_system.ts";

interface Explanation {
  readonly kind: FileErrorKind;
  /** What happened and what to do about it. */
  readonly advice: string;
}

const DISK_FULL: Explanation = {
  kind: "no-space",
  advice: "the disk or its quota is full; free some space",
};

const DENIED: Explanation = {
  kind: "denied",
  advice: "permission denied; give the user of this process access to it",
};

const TOO_MANY_OPEN: Explanation = {
  kind: "too-many-open",
  advice: "too many open files; raise the limit (ulimit -n)",
};

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  ENOENT: { kind: "not-found", advice: "there is no such file or folder" },
  ENOSPC: DISK_FULL,
  EDQUOT: DISK_FULL,
  EFBIG: {
    kind: "no-space",
    advice:
      "the file may not become so large; raise the limit of this process (ulimit -f) or use another file system",
  },
  EROFS: {
    kind: "read-only",
    advice: "the file system is read-only; mount it writable",
  },
  EACCES: DENIED,
  EPERM: DENIED,
  EIO: { kind: "io", advice: "the device failed; check the disk" },
  EMFILE: TOO_MANY_OPEN,
  ENFILE: TOO_MANY_OPEN,
};

/** `action` is a verb, as in `Cannot open /a/b: …`. */
export function fileErrorOf(
  action: string,
  path: string,
  cause: unknown,
): FileError {
  const errno = codeOf(cause);
  const known = EXPLANATIONS[errno] ??
    { kind: "other", advice: "the system refused" };
  return new FileError(
    `Cannot ${action} ${path}: ${known.advice} (${errno})`,
    known.kind,
    path,
    { cause, errno },
  );
}

/** Deno gives some errors no code, only their number in the message. */
const DENO_CODES: Readonly<Record<string, string>> = {
  27: "EFBIG",
  69: "EDQUOT", // macOS
  122: "EDQUOT", // Linux
};

/** The name of a system error, as `ENOENT`; `UNKNOWN` where there is none. */
export function codeOf(error: unknown): string {
  const { code, message } = (error ?? {}) as Record<string, unknown>;
  if (typeof code === "string") return code;
  const number = /\(os error (\d+)\)$/.exec(String(message))?.[1];
  return DENO_CODES[number ?? ""] ?? "UNKNOWN";
}
