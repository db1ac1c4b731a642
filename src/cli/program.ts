/** buildProgram: the tree of commands. Their work is imported when it is asked for. */
import { Command } from "commander";
import { brokerCommand } from "./broker_command.ts";
import { checkConfigCommand } from "./check_config_command.ts";
import { escaped } from "../base/escaped.ts";
import type { CliContext } from "./cli_context.ts";
import { clusterCommand } from "./cluster_command.ts";
import { completionCommand } from "./completion_command.ts";
import { configCommand } from "./config_command.ts";
import { consumeCommand } from "./consume_command.ts";
import { groupCommand } from "./group_command.ts";
import { haCommand } from "./ha_command.ts";
import { healthCommand } from "./health_command.ts";
import { messageCommand } from "./message_command.ts";
import { namesrvCommand } from "./namesrv_command.ts";
import { pairCommand } from "./pair_command.ts";
import { produceCommand } from "./produce_command.ts";
import { standaloneCommand } from "./standalone_command.ts";
import { storeCommand } from "./store_command.ts";
import { topicCommand } from "./topic_command.ts";
import { POCKETMQ_VERSION } from "./version.ts";

const COMMANDS: readonly ((context: CliContext) => Command)[] = [
  standaloneCommand,
  brokerCommand,
  namesrvCommand,
  pairCommand,
  produceCommand,
  consumeCommand,
  topicCommand,
  groupCommand,
  messageCommand,
  clusterCommand,
  configCommand,
  storeCommand,
  haCommand,
  healthCommand,
  checkConfigCommand,
  completionCommand,
];

/** The program with all commands; failures are thrown, never exits. */
export function buildProgram(context: CliContext): Command {
  const program = new Command("pocketmq")
    .description("RocketMQ broker, name server and tools in one file")
    .version(POCKETMQ_VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command");
  for (const commandOf of COMMANDS) program.addCommand(commandOf(context));
  prepare(program, context);
  return program;
}

/** Sends output through the process port and makes failures throw, at every level. */
function prepare(command: Command, context: CliContext): void {
  command.exitOverride();
  command.showSuggestionAfterError(false);
  command.configureOutput({
    writeOut: (text) => context.process.write("stdout", text),
    writeErr: (text) => context.process.write("stderr", text),
    outputError: (text, write) =>
      write(
        `pocketmq: ${usageSentence(text)}; see ${pathOf(command)} --help\n`,
      ),
    getOutHelpWidth: () => 80,
    getErrHelpWidth: () => 80,
  });
  for (const child of command.commands) prepare(child, context);
}

function usageSentence(text: string): string {
  const sentence = text.trim().replace(/^error: /, "")
    .replace(/\s*\n\s*/g, " ").replace(/\.$/, "");
  return escaped(sentence);
}

/** `pocketmq topic create`. */
export function pathOf(command: Command): string {
  return command.parent === null
    ? command.name()
    : `${pathOf(command.parent)} ${command.name()}`;
}
