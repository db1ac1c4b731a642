/** `pocketmq store`: a read-only look into a store directory, ours or Apache's. */
import type { Command } from "commander";
import type { CliContext } from "./cli_context.ts";
import { commandOf, wholeNumber, withJson } from "./options.ts";

/** Options of `store inspect` and `store verify`. */
export interface StoreFlags {
  readonly json?: boolean;
}

/** Options of `store dump`. */
export interface DumpFlags extends StoreFlags {
  readonly topic?: string;
  readonly queue?: number;
  readonly from: number;
  readonly count: number;
  readonly body?: boolean;
}

/** The definition. */
export function storeCommand(context: CliContext): Command {
  const actions = () => import("./run_store.ts");
  const command = commandOf("store", "look into a store directory");
  command.addCommand(
    withJson(commandOf("inspect", "sizes, offsets, topics, keys to open it"))
      .argument("<path>", "storePathRootDir")
      .action(async (path: string, flags: StoreFlags) =>
        (await actions()).inspectStore(context, path, flags)
      ),
  );
  command.addCommand(
    withJson(
      commandOf(
        "verify",
        "check log, queues, index and tables; exit 1 if broken",
      ),
    )
      .argument("<path>", "storePathRootDir")
      .action(async (path: string, flags: StoreFlags) =>
        (await actions()).verifyStore(context, path, flags)
      ),
  );
  command.addCommand(
    withJson(commandOf("dump", "print records of the log"))
      .argument("<path>", "storePathRootDir")
      .option("--topic <topic>", "of one topic")
      .option("--queue <id>", "of one queue", wholeNumber(0))
      .option("--from <offset>", "commit log offset", wholeNumber(0), 0)
      .option("--count <n>", "at most so many", wholeNumber(1), 20)
      .option("--body", "print bodies too")
      .action(async (path: string, flags: DumpFlags) =>
        (await actions()).dumpStore(context, path, flags)
      ),
  );
  return command;
}
