/** Runs the Java drivers of this folder; `scripts/test interop` compiles them first. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";

const FOLDER = new URL(".", import.meta.url).pathname;

/** How a driver ended: its `RESULT {json}` line and everything it printed. */
export interface DriverResult {
  code: number | null;
  result: Record<string, number>;
  output: string;
}

function spawnDriver(
  version: string,
  args: string[],
  offsetsFolder: string,
  jvmFlags: readonly string[] = [],
): ChildProcess {
  const target = `${FOLDER}target/${version}`;
  const classpath = readFileSync(`${target}/classpath`, "utf8").trim();
  return spawn("java", [
    "-Xms64m",
    "-Xmx640m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    `-Drocketmq.client.localOffsetStoreDir=${offsetsFolder}`,
    `-Drocketmq.client.logRoot=${offsetsFolder}/logs`,
    `-Duser.home=${offsetsFolder}`,
    ...jvmFlags,
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "-cp",
    `${target}/classes:${classpath}`,
    "pocketmq.Driver",
    ...args,
  ], { stdio: ["pipe", "pipe", "pipe"], env: process.env });
}

/** Runs a scenario to its end; `onOutput` is told all that was printed so far. */
export function runDriver(
  version: string,
  args: string[],
  offsetsFolder: string,
  onOutput: (output: string) => void = () => {},
  jvmFlags: readonly string[] = [],
): Promise<DriverResult> {
  const child = spawnDriver(version, args, offsetsFolder, jvmFlags);
  let output = "";
  const onData = (bytes: unknown) => {
    output += bytes;
    onOutput(output);
  };
  child.stdout!.on("data", onData);
  child.stderr!.on("data", onData);
  return new Promise((resolve) => {
    child.on("close", (code) => {
      const line = /^RESULT (\{.*\})$/m.exec(output)?.[1];
      resolve({
        code,
        output,
        result: line === undefined ? {} : JSON.parse(line),
      });
    });
  });
}

/** One line `MSG queueId queueOffset key` of a member. */
export interface Delivery {
  queueId: number;
  queueOffset: number;
  key: string;
  /** When the line was read here. */
  atMs: number;
}

/** A member of a consumer group in a JVM of its own. */
export class Member {
  readonly #child: ChildProcess;
  readonly deliveries: Delivery[] = [];
  started = false;
  #rest = "";
  #exited: Promise<number | null>;

  constructor(version: string, args: string[], offsetsFolder: string) {
    this.#child = spawnDriver(version, ["member", ...args], offsetsFolder);
    this.#child.stdin!.on("error", () => {});
    this.#child.stdout!.on("data", (bytes) => this.#onText(String(bytes)));
    this.#exited = new Promise((resolve) =>
      this.#child.on("close", (code) => resolve(code))
    );
  }

  /** Kills the JVM at once. */
  kill(): Promise<number | null> {
    return this.stop("SIGKILL");
  }

  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.#exited;
  }

  /** Lets a member that holds (`hold=N`) consume the rest. */
  goOn(): void {
    this.#child.stdin!.write("\n");
  }

  /** Lets the member leave its group and end. */
  leave(): Promise<number | null> {
    this.#child.stdin!.end();
    return this.#exited;
  }

  #onText(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      if (line === "STARTED") this.started = true;
      const found = /^MSG (\d+) (\d+) (.*)$/.exec(line);
      if (found === null) continue;
      this.deliveries.push({
        queueId: Number(found[1]),
        queueOffset: Number(found[2]),
        key: found[3]!,
        atMs: Date.now(),
      });
    }
  }
}
