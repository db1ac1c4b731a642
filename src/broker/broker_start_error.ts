/** BrokerStartError: the broker cannot start; names the key, its value and the cure. */
import { FileError, type FileErrorKind } from "../io/file_system.ts";

/** A wrong setting, or a machine that does not fit it. */
export class BrokerStartError extends Error {
  override readonly name = "BrokerStartError";
  constructor(
    message: string,
    readonly key: string,
    readonly value: string,
    readonly cure: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What a disk says during the start becomes a matter of storePathRootDir; others stay. */
export function startErrorOf(
  error: unknown,
  storePathRootDir: string,
): unknown {
  if (!(error instanceof FileError)) return error;
  return new BrokerStartError(
    error.message,
    "storePathRootDir",
    storePathRootDir,
    cureOf(error.kind),
    { cause: error },
  );
}

function cureOf(kind: FileErrorKind): string {
  switch (kind) {
    case "no-space":
      return "free space on that disk, or set storePathRootDir to another one";
    case "too-many-open":
      return "raise the limit of open files of this process (ulimit -n), or lower storeOpenFilesMax";
    case "io":
    case "short-read":
      return "check that disk, or set storePathRootDir to another one";
    default:
      return "set storePathRootDir to a folder that this user can write";
  }
}
