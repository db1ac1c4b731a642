/** `pocketmq standalone`: name server, master broker and admin port in one process. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import { commandOf, type ServerFlags, withServerFlags } from "./options.ts";

/** The definition. */
export function standaloneCommand(context: CliContext): Command {
  return withServerFlags(
    commandOf(
      "standalone",
      "name server, broker and admin port in one process on loopback",
    ),
    "broker.conf",
  )
    .option(
      "-n, --namesrv <addresses>",
      "further name servers to register with",
    )
    .option("--store <dir>", "storePathRootDir (default ./pocketmq-data)")
    .option("--listen-port <port>", "port of the broker (10911)")
    .option("--namesrv-port <port>", "port of the name server (9876)")
    .option("--admin-port <port>", "port of the admin API (10913)")
    .option("--bind <address>", "address to bind instead of 127.0.0.1")
    .action(async (flags: ServerFlags) => {
      const { runStandalone } = await import("./run_standalone.ts");
      context.exitCode = await runStandalone(context, flags);
    });
}
