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
  readonly to?: string;
  /** A name. */
  readonly broker?: string;
  readonly queue?: number;
  readonly offset?: number;
}

/** Options of `group clone-offset`. */
export interface CloneOffsetFlags extends TargetFlags {
  readonly topic?: string;
}

/** Options of `group running`. */
export interface RunningFlags extends ClientFlags {
  readonly client?: string;
  readonly stacks?: boolean;
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
    withClientFlags(commandOf("running", "what each member says of itself"))
      .argument("<group>")
      .option("--client <id>", "one member only")
      .option("--stacks", "the stacks of its threads too")
      .action(async (group: string, flags: RunningFlags) =>
        (await import("./run_group_members.ts"))
          .runningGroup(context, group, flags)
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
  for (const it of offsetCommands(context)) command.addCommand(it);
  return command;
}

function offsetCommands(context: CliContext): Command[] {
  const offsets = () => import("./run_group_offsets.ts");
  const reset = commandOf("reset-offset", "set a group to another place");
  const clone = commandOf("clone-offset", "give a group another one's offsets");
  return [
    withClientFlags(reset)
      .argument("<group>")
      .requiredOption("--topic <topic>", "the topic")
      .option("--to <place>", "first, last, or a time")
      .option("--broker <name>", "one broker only")
      .option("--queue <id>", "one queue only", wholeNumber(0))
      .option("--offset <n>", "of that queue, instead of --to", wholeNumber(0))
      .action(async (group: string, flags: ResetOffsetFlags) =>
        (await offsets()).resetOffsetOfGroup(context, group, flags)
      ),
    withTargetFlags(clone)
      .argument("<source>", "whose offsets")
      .argument("<group>", "who gets them; what it has there is replaced")
      .option("--topic <topic>", "one topic only")
      .action(async (source: string, group: string, flags: CloneOffsetFlags) =>
        (await offsets()).cloneOffsetOfGroup(context, source, group, flags)
      ),
  ];
}
