/** `pocketmq config`: reads and changes the configuration of running brokers. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import { commandOf } from "./options.ts";
import { type TargetFlags, withTargetFlags } from "./topic_command.ts";

/** The definition. */
export function configCommand(context: CliContext): Command {
  const actions = () => import("./run_config.ts");
  const command = commandOf("config", "configuration of running brokers");
  command.addCommand(
    withTargetFlags(commandOf("get", "print keys and values"))
      .argument("[key]", "one key")
      .action(async (key: string | undefined, flags: TargetFlags) =>
        (await actions()).getConfig(context, key, flags)
      ),
  );
  command.addCommand(
    withTargetFlags(commandOf("set", "change keys that may change at run time"))
      .argument("<key=value...>", "one or several")
      .action(async (pairs: string[], flags: TargetFlags) =>
        (await actions()).setConfig(context, pairs, flags)
      ),
  );
  return command;
}
