/** BenchRun: what the cases of `scripts/bench` share: their folder, sizes, rows and ratios. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

export const BUN = "node_modules/.bin/bun";
export const ROUNDS = 3;
export const TOPIC = "BenchTopic";

/** What the load generator prints. */
export interface LoadResult {
  messages: number;
  failures: number;
  lastCode?: number;
  seconds: number;
  perSecond: number;
  mbPerSecond: number;
  p50: number;
  p99: number;
  p999: number;
}

/** One measurement; what a case does not measure is not there. */
export interface Row extends Partial<LoadResult> {
  case: string;
  target: string;
  /** 0: compiles what the others run, uncounted. */
  round: number;
  /** Largest resident size of the processes meanwhile. */
  masterRssBytes?: number;
  slaveRssBytes?: number;
}

/** A figure that both sides of a ratio have. */
export type Figure = "perSecond" | "p99" | "mbPerSecond";

/** One run of the script. */
export class BenchRun {
  readonly folder: string = mkdtempSync(`${tmpdir()}/pocketmq-bench-`);
  readonly rows: Row[] = [];
  readonly ratios: Record<string, number> = {};

  constructor(
    /** Small sizes: shows that it works. */
    readonly quick: boolean,
    /** Of one load. */
    readonly seconds: string,
  ) {}

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs the load generator against a broker. Throws when a request failed. */
  async load(
    kind: "send" | "consume",
    port: number,
    args: string[],
    priority: readonly string[] = [],
  ): Promise<LoadResult> {
    const child = Bun.spawn([
      ...priority,
      BUN,
      "test/bench/load_client.ts",
      kind,
      "--port",
      String(port),
      "--topic",
      TOPIC,
      ...args,
    ], { stdout: "pipe", stderr: "inherit" });
    const text = await new Response(child.stdout).text();
    if (await child.exited !== 0) throw new Error(`The ${kind} load failed`);
    const result = JSON.parse(text) as LoadResult;
    if (result.failures > 0) {
      throw new Error(
        `${result.failures} requests of the ${kind} load failed, the last with code ${result.lastCode}`,
      );
    }
    return result;
  }

  /** A load whose figures count. */
  async measure(
    name: string,
    target: string,
    round: number,
    port: number,
    args: string[],
  ): Promise<void> {
    const kind = name === "consume" ? name : "send";
    const result = await this.load(kind, port, args);
    this.rows.push({ case: name, target, round, ...result });
    console.log(
      `${name.padEnd(9)} ${target.padEnd(20)} ${
        Math.round(result.perSecond).toString().padStart(8)
      } msg/s ${result.mbPerSecond.toFixed(1).padStart(7)} MB/s  p50 ${
        result.p50.toFixed(2)
      } ms  p99 ${result.p99.toFixed(2)} ms  p99.9 ${
        result.p999.toFixed(2)
      } ms`,
    );
  }

  /** Median over the rounds of ours by theirs: what slows a round down slows both. */
  setRatio(
    ratio: string,
    name: string,
    ours: string,
    theirs: string,
    figure: Figure = "perSecond",
  ): void {
    const of = (target: string) =>
      this.rows.filter((it) =>
        it.case === name && it.target === target && it.round > 0
      )
        .map((it) => it[figure] ?? 0);
    const others = of(theirs);
    const all = of(ours).map((it, round) => it / others[round]!)
      .sort((a, b) => a - b);
    this.ratios[ratio] = all[Math.floor(all.length / 2)] ?? 0;
  }
}
