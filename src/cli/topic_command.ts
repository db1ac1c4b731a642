/** `pocketmq topic`: administration of topics over the remoting protocol. */
import { type Command, InvalidArgumentError } from "commander";
import type { CliContext } from "./cli_context.ts";
import {
  type ClientFlags,
  commandOf,
  wholeNumber,
  withClientFlags,
} from "./options.ts";

/** Which brokers a change goes to. */
export interface TargetFlags extends ClientFlags {
  /** `host:port` of one broker. */
  readonly broker?: string;
  readonly cluster?: string;
}

/** Options of `topic create`. */
export interface CreateTopicFlags extends TargetFlags {
  readonly queues: number;
  readonly readQueues?: number;
  readonly writeQueues?: number;
  readonly perm: number;
  readonly order?: boolean;
}

/** Options of `topic list`. */
export interface ListTopicFlags extends ClientFlags {
  readonly all?: boolean;
}

const PERMS: Readonly<Record<string, number>> = { r: 4, w: 2, rw: 6 };

function parsePerm(text: string): number {
  if (Object.hasOwn(PERMS, text)) return PERMS[text]!;
  if (/^[0-7]$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give r, w, rw, or a number 0 to 7.");
}

/** `--broker`, `--cluster`. */
export function withTargetFlags(command: Command): Command {
  return withClientFlags(command)
    .option(
      "--broker <broker>",
      "one broker, name or host:port (else all masters)",
    )
    .option("--cluster <name>", "all masters of one cluster");
}

/** The definition. */
export function topicCommand(context: CliContext): Command {
  const actions = () => import("./run_topic.ts");
  const command = commandOf("topic", "list, show, create and delete topics");
  command.addCommand(
    withClientFlags(commandOf("list", "topics that the name server knows"))
      .option("--all", "system, retry and dead-letter topics too")
      .action(async (flags: ListTopicFlags) =>
        (await actions()).listTopics(context, flags)
      ),
  );
  command.addCommand(
    withClientFlags(commandOf("show", "queues and offsets of a topic"))
      .argument("<topic>")
      .action(async (topic: string, flags: ClientFlags) =>
        (await actions()).showTopic(context, topic, flags)
      ),
  );
  command.addCommand(
    withClientFlags(commandOf("route", "brokers that have a topic"))
      .argument("<topic>")
      .action(async (topic: string, flags: ClientFlags) =>
        (await actions()).routeOfTopic(context, topic, flags)
      ),
  );
  command.addCommand(
    withTargetFlags(commandOf("create", "create a topic, or change it"))
      .alias("update")
      .argument("<topic>")
      .option(
        "--queues <n>",
        "queues on each broker",
        wholeNumber(1, 65_535),
        8,
      )
      .option("--read-queues <n>", "read queues", wholeNumber(1, 65_535))
      .option("--write-queues <n>", "write queues", wholeNumber(1, 65_535))
      .option("--perm <perm>", "r, w, rw or 0 to 7", parsePerm, 6)
      .option("--order", "an ordered topic")
      .action(async (topic: string, flags: CreateTopicFlags) =>
        (await actions()).createTopic(context, topic, flags)
      ),
  );
  command.addCommand(
    withTargetFlags(commandOf("delete", "delete a topic and its messages"))
      .argument("<topic>")
      .action(async (topic: string, flags: TargetFlags) =>
        (await actions()).deleteTopic(context, topic, flags)
      ),
  );
  return command;
}
