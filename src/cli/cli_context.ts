/** CliContext: what every command gets. */
import { escaped } from "../base/escaped.ts";
import type { Process } from "../runtime/process.ts";
import type { Runtime } from "../runtime/runtime.ts";

/** One run of the program. */
export interface CliContext {
  readonly runtime: Runtime;
  readonly process: Process;
  /** `monotonicMs` when the program began. */
  readonly startedMs: number;
  /** Set by commands that fail without a sentence, as `health`. */
  exitCode: number;
}

/** Writes one line on standard output. */
export function printLine(context: CliContext, line: string): void {
  context.process.write("stdout", `${line}\n`);
}

/** Writes one line on standard error. */
export function printWarning(context: CliContext, line: string): void {
  context.process.write("stderr", `pocketmq: ${escaped(line)}\n`);
}
