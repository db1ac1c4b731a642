/** `pocketmq group`: administration of consumer groups over the remoting protocol. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import {
  type ClientFlags,
  commandOf,
  wholeNumber,
  withClientFlags,
} from "./options.ts";
import { type TargetFlags, withTargetFlags } from "./topic_command.ts";

/** Options of `group create`. */
export interface CreateGroupFlags extends TargetFlags {
  readonly retryMaxTimes: number;
  readonly consume: boolean;
  readonly broadcast: boolean;
}

/** Options of `group lag`. */
export interface LagFlags extends ClientFlags {
  readonly topic?: string;
}

/** Options of `group reset-offset`. */
export interface ResetOffsetFlags extends ClientFlags {
  readonly topic: string;
  readonly to: string;
}

/** The definition. */
export function groupCommand(context: CliContext): Command {
  const actions = () => import("./run_group.ts");
  const command = commandOf("group", "list, show, create and delete groups");
  command.addCommand(
    withTargetFlags(commandOf("list", "consumer groups of the brokers"))
      .action(async (flags: TargetFlags) =>
        (await actions()).listGroups(context, flags)
      ),
  );
  command.addCommand(
    withClientFlags(commandOf("show", "members and subscriptions of a group"))
      .argument("<group>")
      .action(async (group: string, flags: ClientFlags) =>
        (await actions()).showGroup(context, group, flags)
      ),
  );
  command.addCommand(
    withClientFlags(commandOf("lag", "how far behind a group is"))
      .argument("<group>")
      .option("--topic <topic>", "one topic only")
      .action(async (group: string, flags: LagFlags) =>
        (await actions()).lagOfGroup(context, group, flags)
      ),
  );
  command.addCommand(
    withClientFlags(commandOf("reset-offset", "set a group to another place"))
      .argument("<group>")
      .requiredOption("--topic <topic>", "the topic")
      .requiredOption("--to <place>", "first, last, or a time")
      .action(async (group: string, flags: ResetOffsetFlags) =>
        (await actions()).resetOffsetOfGroup(context, group, flags)
      ),
  );
  command.addCommand(
    withTargetFlags(commandOf("create", "create a group, or change it"))
      .alias("update")
      .argument("<group>")
      .option("--retry-max-times <n>", "retries", wholeNumber(0, 100_000), 16)
      .option("--no-consume", "refuse its pulls")
      .option("--no-broadcast", "refuse broadcasting")
      .action(async (group: string, flags: CreateGroupFlags) =>
        (await actions()).createGroup(context, group, flags)
      ),
  );
  command.addCommand(
    withTargetFlags(commandOf("delete", "delete a group and its offsets"))
      .argument("<group>")
      .action(async (group: string, flags: TargetFlags) =>
        (await actions()).deleteGroup(context, group, flags)
      ),
  );
  return command;
}
