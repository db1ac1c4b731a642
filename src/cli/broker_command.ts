/** `pocketmq broker`: a broker as broker.conf describes it. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import { commandOf, type ServerFlags, withServerFlags } from "./options.ts";

/** The definition. */
export function brokerCommand(context: CliContext): Command {
  return withServerFlags(
    commandOf("broker", "a broker, as broker.conf says"),
    "broker.conf",
  )
    .option(
      "-n, --namesrv <addresses>",
      "namesrvAddr: host:port separated by ;",
    )
    .option("--store <dir>", "storePathRootDir (default $HOME/store)")
    .option("--listen-port <port>", "port of the broker (10911)")
    .option("--admin-port <port>", "port of the admin API (10913)")
    .option("--bind <address>", "bindAddress (default 0.0.0.0)")
    .action(async (flags: ServerFlags) => {
      const { runBroker } = await import("./run_broker.ts");
      context.exitCode = await runBroker(context, flags);
    });
}
