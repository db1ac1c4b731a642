/** `pocketmq consume`: reads from a shell. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import {
  type ClientFlags,
  commandOf,
  wholeNumber,
  withClientFlags,
} from "./options.ts";

/** Options of `consume`. */
export interface ConsumeFlags extends ClientFlags {
  readonly group: string;
  readonly from: string;
  readonly tag?: string;
  readonly sql?: string;
  readonly count?: number;
  /** Seconds. */
  readonly timeout?: number;
}

/** The definition. */
export function consumeCommand(context: CliContext): Command {
  return withClientFlags(
    commandOf("consume", "print messages, one body per line"),
  )
    .argument("<topic>", "topic")
    .requiredOption("--group <group>", "consumer group; its offsets are kept")
    .option(
      "--from <place>",
      "where a new group begins: first, last, or a time as 2026-01-31T08:00:00Z",
      "last",
    )
    .option("--tag <expression>", "tags, as: A || B")
    .option("--sql <expression>", "SQL92 expression over properties")
    .option("--count <n>", "stop after so many, exit 0", wholeNumber(1))
    .option(
      "--timeout <seconds>",
      "stop after so long, exit 1 when --count was not reached",
      wholeNumber(1, 86_400),
    )
    .action(async (topic: string, flags: ConsumeFlags) => {
      const { consume } = await import("./run_consume.ts");
      await consume(context, topic, flags);
    });
}
