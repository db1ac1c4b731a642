/** `pocketmq message`: finds messages by id, key or offset. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import {
  type ClientFlags,
  commandOf,
  wholeNumber,
  withClientFlags,
} from "./options.ts";

/** Options of `message show`. */
export interface ShowMessageFlags extends ClientFlags {
  readonly topic?: string;
}

/** Options of `message query`. */
export interface QueryMessageFlags extends ClientFlags {
  readonly key: string;
  readonly max: number;
  readonly begin?: string;
  readonly end?: string;
}

/** Options of `message at`. */
export interface MessageAtFlags extends ClientFlags {
  readonly queue: number;
  readonly offset: number;
  readonly broker?: string;
  readonly max: number;
}

/** Options of `message consume-directly`. */
export interface ConsumeDirectlyFlags extends ClientFlags {
  readonly group: string;
  readonly client?: string;
}

/** The definition. */
export function messageCommand(context: CliContext): Command {
  const actions = () => import("./run_message.ts");
  const command = commandOf(
    "message",
    "find messages, and hand one to a consumer",
  );
  command.addCommand(
    withClientFlags(commandOf("show", "one message by its id"))
      .argument("<id>", "offset id, or a client's id with --topic")
      .option("--topic <topic>", "topic of a client's id")
      .action(async (id: string, flags: ShowMessageFlags) =>
        (await actions()).showMessage(context, id, flags)
      ),
  );
  command.addCommand(
    withClientFlags(commandOf("query", "messages of a topic by key"))
      .argument("<topic>")
      .requiredOption("--key <key>", "the key")
      .option("--max <n>", "at most so many", wholeNumber(1, 64), 32)
      .option("--begin <time>", "stored at or after, as 2026-01-31T08:00:00Z")
      .option("--end <time>", "stored at or before")
      .action(async (topic: string, flags: QueryMessageFlags) =>
        (await actions()).queryMessages(context, topic, flags)
      ),
  );
  command.addCommand(
    withClientFlags(commandOf("at", "messages of a queue from an offset on"))
      .argument("<topic>")
      .requiredOption("--queue <id>", "queue id", wholeNumber(0))
      .requiredOption("--offset <n>", "queue offset", wholeNumber(0))
      .option("--broker <name>", "broker name, where several have the topic")
      .option("--max <n>", "at most so many", wholeNumber(1, 32), 1)
      .action(async (topic: string, flags: MessageAtFlags) =>
        (await actions()).messagesAt(context, topic, flags)
      ),
  );
  command.addCommand(
    withClientFlags(
      commandOf("consume-directly", "give a message to a group's member now"),
    )
      .argument("<id>", "offset id")
      .requiredOption("--group <group>", "the group; its offsets stay")
      .option("--client <id>", "the member, where there are several")
      .action(async (id: string, flags: ConsumeDirectlyFlags) =>
        (await import("./run_consume_directly.ts"))
          .consumeDirectly(context, id, flags)
      ),
  );
  return command;
}
