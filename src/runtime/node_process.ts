/** NodeProcess: what both runtimes share of the Process port. */
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { isatty } from "node:tty";
import { readInputFile, readInputStream } from "./node_input.ts";
import { writeStream } from "./node_streams.ts";
import type {
  ChildProgram,
  InputFile,
  Process,
  SignalName,
} from "./process.ts";

/** Set for programs that `spawnSelf` starts: their standard input ends with us. */
const CHILD_VARIABLE = "_POCKETMQ_CHILD";

/** The running process; a runtime adds how to read its input and run it again. */
export class NodeProcess implements Process {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>> = process.env;
  readonly self: readonly string[];
  readonly #stdin: () => ReadableStream<Uint8Array>;

  constructor(
    args: readonly string[],
    self: readonly string[],
    stdin: () => ReadableStream<Uint8Array>,
  ) {
    this.args = args;
    this.self = self;
    this.#stdin = stdin;
  }

  workingDirectory(): string {
    return process.cwd();
  }

  isTerminal(stream: "stdout" | "stderr"): boolean {
    return isatty(stream === "stdout" ? 1 : 2);
  }

  write(stream: "stdout" | "stderr", text: string): boolean {
    return writeStream(stream, new TextEncoder().encode(text));
  }

  writeBytes(stream: "stdout", bytes: Uint8Array): boolean {
    return writeStream(stream, bytes);
  }

  readStdin(sizeMax: number): Promise<Uint8Array> {
    return readInputStream(this.#stdin(), sizeMax);
  }

  readInput(path: string, sizeMax: number): InputFile {
    return readInputFile(path, sizeMax);
  }

  onSignal(signal: SignalName, run: () => void): void {
    process.on(signal, run);
  }

  spawnSelf(
    args: readonly string[],
    onLine: (line: string, stream: "stdout" | "stderr") => void,
  ): ChildProgram {
    const [program, ...rest] = this.self;
    // The pipe ends with this process, whatever ends it.
    const child = spawn(program!, [...rest, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...this.env, [CHILD_VARIABLE]: "1" },
    });
    for (const name of ["stdout", "stderr"] as const) {
      createInterface({ input: child[name] })
        .on("line", (line) => onLine(line, name));
    }
    return {
      pid: child.pid ?? -1,
      exited: new Promise((resolve) => {
        // Not "exit": what it wrote last has come by then.
        child.on("close", (code) => resolve(code));
        child.on("error", () => resolve(-1));
      }),
      kill: (signal) => void child.kill(signal),
    };
  }

  get isChild(): boolean {
    return this.env[CHILD_VARIABLE] === "1";
  }

  async parentEnded(): Promise<void> {
    for await (const _ of this.#stdin());
  }

  exit(code: number): never {
    return process.exit(code);
  }
}
