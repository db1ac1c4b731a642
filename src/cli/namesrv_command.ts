/** `pocketmq namesrv`: a name server. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import { commandOf, type ServerFlags, withServerFlags } from "./options.ts";

/** The definition. */
export function namesrvCommand(context: CliContext): Command {
  return withServerFlags(commandOf("namesrv", "a name server"), "namesrv.conf")
    .option("--listen-port <port>", "port of the name server (9876)")
    .option("--namesrv-port <port>", "the same")
    .option("--bind <address>", "bindAddress (default 0.0.0.0)")
    .action(async (flags: ServerFlags) => {
      const { runNamesrv } = await import("./run_namesrv.ts");
      context.exitCode = await runNamesrv(context, flags);
    });
}
