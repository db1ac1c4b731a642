/** `pocketmq ha`: replication of one broker, over its admin port. */
import type { Command } from "commander";
import { DEFAULT_ADMIN } from "./admin_client.ts";
import type { CliContext } from "./cli_context.ts";
import { commandOf, wholeNumber, withJson } from "./options.ts";
import type { HAStatusFlags } from "./run_ha.ts";

/** The definition. */
export function haCommand(context: CliContext): Command {
  const command = commandOf("ha", "replication: state, peers and lag");
  command.addCommand(
    withJson(commandOf("status", "the pair as one broker sees it"))
      .option("--admin <url>", "admin port", DEFAULT_ADMIN)
      .option(
        "--max-lag <bytes>",
        "exit 1 when a slave is further behind",
        wholeNumber(0),
      )
      .option("--watch", "print it again every 2 s")
      .action(async (flags: HAStatusFlags) => {
        const { haStatus } = await import("./run_ha.ts");
        await haStatus(context, flags);
      }),
  );
  return command;
}
