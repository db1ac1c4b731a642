/** `pocketmq pair`: a name server, a master and its slave on one machine, to try things out. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import { collect, commandOf, wholeNumber, withJson } from "./options.ts";
import type { PairFlags } from "./run_pair.ts";

/** The definition. */
export function pairCommand(context: CliContext): Command {
  return withJson(commandOf(
    "pair",
    "demo: name server, SYNC_MASTER and SLAVE as three processes on loopback",
  ))
    .option(
      "--store <dir>",
      "folder of both stores (default ./pocketmq-data/pair)",
    )
    .option(
      "--namesrv-port <port>",
      "port of the name server (9876)",
      wholeNumber(0, 65_535),
    )
    .option(
      "--listen-port <port>",
      "port of the master (10911); the slave's is 10 above",
      wholeNumber(0, 65_524),
    )
    .option(
      "--admin-port <port>",
      "admin port of the master (10913); the slave's is 10 above",
      wholeNumber(0, 65_525),
    )
    .option("--bind <address>", "address to bind instead of 127.0.0.1")
    .option(
      "--set <key=value>",
      "any configuration key of both brokers (repeatable)",
      collect,
      [],
    )
    .action(async (flags: PairFlags) => {
      const { runPair } = await import("./run_pair.ts");
      context.exitCode = await runPair(context, flags);
    });
}
