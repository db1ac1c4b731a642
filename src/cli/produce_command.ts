/** `pocketmq produce`: sends from a shell. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import { BODY_SIZE_MAX } from "./files.ts";
import {
  type ClientFlags,
  collect,
  commandOf,
  wholeNumber,
  withClientFlags,
} from "./options.ts";

/** Options of `produce`. */
export interface ProduceFlags extends ClientFlags {
  readonly tag?: string;
  readonly key: readonly string[];
  readonly property: readonly string[];
  readonly delayLevel?: number;
  readonly count: number;
  readonly size?: number;
  readonly file?: string;
}

/** The definition. */
export function produceCommand(context: CliContext): Command {
  return withClientFlags(commandOf("produce", "send messages"))
    .argument("<topic>", "topic; created when the broker allows it")
    .argument(
      "[body]",
      "body of the message; without it, see --file and --size",
    )
    .option("--tag <tag>", "tag for filters")
    .option("--key <key>", "key to find it by (repeatable)", collect, [])
    .option("--property <k=v>", "further property (repeatable)", collect, [])
    .option("--delay-level <n>", "delay level 1 to 18", wholeNumber(1, 18))
    .option("--count <n>", "send it so often", wholeNumber(1), 1)
    .option(
      "--size <bytes>",
      "a body of that many bytes",
      wholeNumber(0, BODY_SIZE_MAX),
    )
    .option("--file <path>", "body from a file or pipe; - is standard input")
    .action(
      async (topic: string, body: string | undefined, flags: ProduceFlags) => {
        const { produce } = await import("./run_produce.ts");
        await produce(context, topic, body, flags);
      },
    );
}
