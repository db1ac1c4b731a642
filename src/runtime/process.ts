/** Process: arguments, environment, signals and streams; src/cli gets it from main.ts. */

/** Signals that a program of ours reacts to. */
export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP";

/** A program that this one has started. */
export interface ChildProgram {
  readonly pid: number;
  /** Its exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  kill(signal: SignalName): void;
}

/** An input that was read to its end. */
export interface InputFile {
  readonly bytes: Uint8Array;
  /** False for a pipe or a device: it cannot be read again. */
  readonly isRegular: boolean;
}

/** The process as the command line sees it. */
export interface Process {
  /** Arguments after the program. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of this executable (or of the runtime) and the arguments that re-run this program. */
  readonly self: readonly string[];
  workingDirectory(): string;
  isTerminal(stream: "stdout" | "stderr"): boolean;
  /** Writes all, synchronously; false when the reader has gone (no error). */
  write(stream: "stdout" | "stderr", text: string): boolean;
  writeBytes(stream: "stdout", bytes: Uint8Array): boolean;
  /** Everything on standard input. Rejects with FileError beyond `sizeMax` bytes. */
  readStdin(sizeMax: number): Promise<Uint8Array>;
  /** All of a file, pipe or device. Throws FileError, also beyond `sizeMax` bytes. */
  readInput(path: string, sizeMax: number): InputFile;
  onSignal(signal: SignalName, run: () => void): void;
  /** Runs this program again with other arguments; `onLine` gets what it writes. */
  spawnSelf(
    args: readonly string[],
    onLine: (line: string, stream: "stdout" | "stderr") => void,
  ): ChildProgram;
  /** True when `spawnSelf` of another process started this one. */
  readonly isChild: boolean;
  /** Resolves when the process that started this one has ended, however it did. */
  parentEnded(): Promise<void>;
  exit(code: number): never;
}
