/** runCli: arguments in, exit code out; every failure ends here. */
import { CommanderError } from "commander";
import type { Runtime } from "../runtime/runtime.ts";
import type { CliContext } from "./cli_context.ts";
import { failureOf } from "./cli_error.ts";
import { buildProgram } from "./program.ts";

/** Runs one command to its end. Never throws. */
export async function runCli(runtime: Runtime): Promise<number> {
  const context: CliContext = {
    runtime,
    process: runtime.process,
    startedMs: runtime.clock.monotonicMs(),
    exitCode: 0,
  };
  try {
    await buildProgram(context).parseAsync(runtime.process.args, {
      from: "user",
    });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return exitCodeOfUsage(error);
    const { exitCode, sentence } = failureOf(error);
    runtime.process.write("stderr", `pocketmq: ${sentence}\n`);
    return exitCode;
  }
}

/** Help and version were asked for; everything else that commander throws is a usage error. */
function exitCodeOfUsage(error: CommanderError): number {
  const isAsked = error.code === "commander.helpDisplayed" ||
    error.code === "commander.version" || error.code === "commander.help" &&
      error.exitCode === 0;
  return isAsked ? 0 : 2;
}
