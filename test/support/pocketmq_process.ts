/** Starts and asks the program under test: the executable, or the source under Deno or Bun. */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";

/** What `--json` prints once ready. */
export interface ReadyLine {
  ready: true;
  ms: number;
  /** `node`: which process of `pair`. */
  listeners: {
    name: string;
    bound: string;
    advertised: string;
    node?: string;
  }[];
}

/** A program that ran to its end. */
export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The command that runs the program under test (TEST_PROGRAM: executable, deno, bun). */
export function programUnderTest(): string[] {
  const kind = process.env.TEST_PROGRAM ?? "executable";
  if (kind === "deno") {
    return ["node_modules/.bin/deno", "run", "-A", "src/main.ts"];
  }
  if (kind === "bun") return ["node_modules/.bin/bun", "src/main.ts"];
  return ["dist/pocketmq"];
}

function start(args: string[], env: Record<string, string>): ChildProcess {
  const [program, ...rest] = programUnderTest();
  return spawn(program!, [...rest, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      ...process.env,
      NO_COLOR: "1",
      DENO_NO_UPDATE_CHECK: "1",
      ...env,
    },
  });
}

/** Runs a command to its end. */
export function runPocketMQ(
  args: string[],
  options: { input?: string; env?: Record<string, string> } = {},
): Promise<Finished> {
  const child = start(args, options.env ?? {});
  child.stdin!.on("error", () => {});
  child.stdin!.end(options.input ?? "");
  let stdout = "";
  let stderr = "";
  child.stdout!.on("data", (bytes) => stdout += bytes);
  child.stderr!.on("data", (bytes) => stderr += bytes);
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** A server of ours that runs until it is stopped or killed. */
export class PocketMQProcess {
  readonly #child: ChildProcess;
  #stdout = "";
  #stderr = "";
  #exited: Promise<number | null>;
  ready!: ReadyLine;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdin!.on("error", () => {});
    child.stderr!.on("data", (bytes) => this.#stderr += bytes);
    this.#exited = new Promise((resolve) => {
      child.on("close", (code) => resolve(code));
    });
  }

  /** Starts a server command with `--json` and waits for its ready line. */
  static async start(
    args: string[],
    env: Record<string, string> = {},
  ): Promise<PocketMQProcess> {
    const it = new PocketMQProcess(start([...args, "--json"], env));
    it.ready = await it.#readyLine();
    return it;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Resolves with the exit code when the program has ended, by whatever. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** `host:port` that a listener is bound to; `node`: of which process of `pair`. */
  address(name: string, node?: string): string {
    const listener = this.ready.listeners.find((it) =>
      it.name === name && it.node === node
    );
    if (listener === undefined) throw new Error(`No listener ${name}`);
    return listener.bound;
  }

  port(name: string): number {
    return Number(this.address(name).split(":").at(-1));
  }

  /** Sends a signal and waits for the end; returns the exit code. */
  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.#child.kill(signal);
    return this.#exited;
  }

  #readyLine(): Promise<ReadyLine> {
    return new Promise((resolve, reject) => {
      this.#child.stdout!.on("data", (bytes) => {
        this.#stdout += bytes;
        for (const line of this.#stdout.split("\n")) {
          if (line.startsWith('{"ready":true') && line.endsWith("}")) {
            resolve(JSON.parse(line) as ReadyLine);
          }
        }
      });
      void this.#exited.then((code) =>
        reject(new Error(`Ended with ${code} before ready: ${this.#stderr}`))
      );
    });
  }
}
