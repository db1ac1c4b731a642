/** `pocketmq ha`: replication of one broker, over its admin port. */
import { type Command, Option } from "commander";
import { DEFAULT_ADMIN } from "./admin_client.ts";
import type { CliContext } from "./cli_context.ts";
import type { HAReseedFlags } from "./run_ha_reseed.ts";
import { commandOf, wholeNumber, withJson } from "./options.ts";
import type { HADemoteFlags, HAPromoteFlags, HAStatusFlags } from "./run_ha.ts";

/** The definition. */
export function haCommand(context: CliContext): Command {
  const command = commandOf(
    "ha",
    "replication: state, promotion, demotion, re-seeding",
  );
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
  command.addCommand(
    withRoleFlags(commandOf(
      "promote",
      "make this slave the master; with --force also one that was overtaken",
    ))
      .addOption(
        new Option("--role <role>", "else the role that the master had")
          .choices(["SYNC_MASTER", "ASYNC_MASTER"]),
      )
      .action(async (flags: HAPromoteFlags) => {
        const { haPromote } = await import("./run_ha.ts");
        await haPromote(context, flags);
      }),
  );
  command.addCommand(
    withRoleFlags(commandOf(
      "demote",
      "make this master a slave; give a slave another master or a free brokerId",
    ))
      .option(
        "--master <host:port>",
        "replication port of the master to follow (else the one that is found)",
      )
      .action(async (flags: HADemoteFlags) => {
        const { haDemote } = await import("./run_ha.ts");
        await haDemote(context, flags);
      }),
  );
  command.addCommand(
    withJson(
      commandOf(
        "reseed",
        "let a slave follow that cannot; what does not fit is kept aside",
      ),
    )
      .option("--admin <url>", "admin port", DEFAULT_ADMIN)
      .option("--force", "give the old data up where both do not fit")
      .action(async (flags: HAReseedFlags) => {
        const { haReseed } = await import("./run_ha_reseed.ts");
        await haReseed(context, flags);
      }),
  );
  return command;
}

function withRoleFlags(command: Command): Command {
  return withJson(command)
    .option("--admin <url>", "admin port", DEFAULT_ADMIN)
    .option("--force", "also when something may be lost");
}
