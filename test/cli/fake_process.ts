/** Runs the command line in this process: real ports, a fake Process. */
import { openRuntime } from "#runtime";
import { runCli } from "../../src/cli/run_cli.ts";
import { readInputFile } from "../../src/runtime/node_input.ts";
import type {
  InputFile,
  Process,
  SignalName,
} from "../../src/runtime/process.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";

/** What `exit` throws instead of ending the test. */
export class ExitCalled extends Error {
  constructor(readonly code: number) {
    super(`exit(${code})`);
  }
}

/** A Process that remembers. */
export class FakeProcess implements Process {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly self: readonly string[] = ["pocketmq"];
  readonly exitCodes: number[] = [];
  stdout = "";
  stderr = "";
  /** Called after each write, to wait for a line. */
  onWrite: () => void = () => {};
  readonly #signals = new Map<SignalName, () => void>();

  constructor(
    args: readonly string[],
    env: Record<string, string> = {},
    readonly stdin = "",
  ) {
    this.args = args;
    this.env = { HOME: "/nonexistent", ...env };
  }

  workingDirectory(): string {
    return "/";
  }

  isTerminal(): boolean {
    return false;
  }

  write(stream: "stdout" | "stderr", text: string): boolean {
    this[stream] += text;
    this.onWrite();
    return true;
  }

  writeBytes(stream: "stdout", bytes: Uint8Array): boolean {
    return this.write(stream, new TextDecoder().decode(bytes));
  }

  readStdin(): Promise<Uint8Array> {
    return Promise.resolve(new TextEncoder().encode(this.stdin));
  }

  readInput(path: string, sizeMax: number): InputFile {
    return readInputFile(path, sizeMax);
  }

  onSignal(signal: SignalName, run: () => void): void {
    this.#signals.set(signal, run);
  }

  readonly isChild = false;

  parentEnded(): Promise<void> {
    return new Promise(() => {});
  }

  spawnSelf(): never {
    throw new Error("not here");
  }

  exit(code: number): never {
    this.exitCodes.push(code);
    throw new ExitCalled(code);
  }

  /** As the kernel would. */
  signal(signal: SignalName): void {
    this.#signals.get(signal)?.();
  }
}

/** Real ports around a fake process; log lines go nowhere. */
export function runtimeOf(process: FakeProcess): Runtime {
  const quiet = {
    debug() {},
    info() {},
    warn() {},
    error() {},
    child: () => quiet,
  };
  return {
    ...openRuntime(),
    process,
    openLogger: () => quiet,
    releaseIdleMemory() {},
  };
}

/** Runs a command to its end. */
export async function run(
  args: readonly string[],
  env: Record<string, string> = {},
  stdin = "",
): Promise<{ code: number; stdout: string; stderr: string }> {
  const process = new FakeProcess(args, env, stdin);
  const code = await runCli(runtimeOf(process));
  return { code, stdout: process.stdout, stderr: process.stderr };
}

/** A server command that runs until it is stopped. */
export async function startServer(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{
  process: FakeProcess;
  listeners: Record<string, string>;
  stop(): Promise<number>;
}> {
  const process = new FakeProcess([...args, "--json"], env);
  const ended = runCli(runtimeOf(process));
  const ready = Promise.withResolvers<string>();
  process.onWrite = () => {
    if (process.stdout.includes("\n")) ready.resolve(process.stdout);
  };
  const line = await Promise.race([
    ready.promise,
    ended.then((code) => {
      throw new Error(`Ended with ${code}: ${process.stderr}`);
    }),
  ]);
  const { listeners } = JSON.parse(line) as {
    listeners: { name: string; bound: string }[];
  };
  return {
    process,
    listeners: Object.fromEntries(listeners.map((it) => [it.name, it.bound])),
    stop: () => {
      process.signal("SIGTERM");
      return ended;
    },
  };
}
