/** `pocketmq completion`: scripts for bash, zsh and fish, made from the command tree. */
import { Argument, type Command } from "commander";
import { type CliContext, printLine } from "./cli_context.ts";
import { commandOf } from "./options.ts";

/** One command as the scripts know it. */
interface CompletionNode {
  /** Words after the program's name. */
  readonly path: readonly string[];
  readonly words: readonly { readonly name: string; readonly doc: string }[];
  readonly flags: readonly {
    readonly long: string;
    readonly short: string | undefined;
    readonly doc: string;
  }[];
}

/** The definition. */
export function completionCommand(context: CliContext): Command {
  const command = commandOf(
    "completion",
    "print a completion script, as: source <(pocketmq completion bash)",
  );
  return command
    .addArgument(
      new Argument("<shell>", "which shell").choices(["bash", "zsh", "fish"]),
    )
    .action((shell: string) => {
      const nodes = nodesOf(command.parent!, []);
      printLine(context, SCRIPTS[shell]!(nodes));
    });
}

function nodesOf(command: Command, path: readonly string[]): CompletionNode[] {
  const help = command.createHelp();
  const children = help.visibleCommands(command).filter((it) =>
    it.name() !== "help"
  );
  const node: CompletionNode = {
    path,
    words: [
      ...children.flatMap((it) =>
        namesOf(it).map((name) => ({ name, doc: it.description() }))
      ),
      ...command.registeredArguments.flatMap((it) =>
        (it.argChoices ?? []).map((name) => ({ name, doc: it.description }))
      ),
    ],
    flags: help.visibleOptions(command).flatMap((it) =>
      it.long === undefined || it.long === null
        ? []
        : [{ long: it.long, short: it.short, doc: it.description }]
    ),
  };
  return [
    node,
    ...children.flatMap((it) =>
      namesOf(it).flatMap((name) => nodesOf(it, [...path, name]))
    ),
  ];
}

function namesOf(command: Command): string[] {
  return [command.name(), ...command.aliases()];
}

const SCRIPTS: Readonly<
  Record<string, (nodes: readonly CompletionNode[]) => string>
> = { bash: bashScript, zsh: zshScript, fish: fishScript };

function candidatesOf(node: CompletionNode): string {
  return [
    ...node.words.map((it) => it.name),
    ...node.flags.map((it) => it.long),
  ].join(" ");
}

function bashScript(nodes: readonly CompletionNode[]): string {
  const cases = nodes.map((it) =>
    `    "${it.path.join(" ")}") words="${candidatesOf(it)}" ;;`
  );
  return `_pocketmq() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words next
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in
    ${
    nodes.filter((it) => it.path.length > 0).map((it) =>
      `"${it.path.join(" ")}"`
    ).join("|")
  }) path="$next" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _pocketmq pocketmq`;
}

function zshScript(nodes: readonly CompletionNode[]): string {
  const quote = (text: string) => text.replaceAll("'", "'\\''");
  const entry = (name: string, doc: string) =>
    `'${quote(`${name.replaceAll(":", "\\:")}:${doc}`)}'`;
  const cases = nodes.map((it) => {
    const entries = [
      ...it.words.map(({ name, doc }) => entry(name, doc)),
      ...it.flags.map(({ long, doc }) => entry(long, doc)),
    ];
    return `    '${it.path.join(" ")}') candidates=(${entries.join(" ")}) ;;`;
  });
  return `#compdef pocketmq
_pocketmq() {
  local word next place=""
  local -a candidates
  for word in "\${words[@]:1:$((CURRENT-2))}"; do
    next="\${place:+$place }$word"
    case "$next" in
    ${
    nodes.filter((it) => it.path.length > 0).map((it) =>
      `'${it.path.join(" ")}'`
    ).join("|")
  }) place="$next" ;;
    esac
  done
  case "$place" in
${cases.join("\n")}
  esac
  _describe 'pocketmq' candidates || _files
}
compdef _pocketmq pocketmq`;
}

function fishScript(nodes: readonly CompletionNode[]): string {
  const quote = (text: string) => text.replaceAll("'", "\\'");
  const lines = nodes.flatMap((it) => {
    const at = it.path.length === 0
      ? "__fish_use_subcommand"
      : it.path.map((word) => `__fish_seen_subcommand_from ${word}`).join(
        "; and ",
      );
    const start = `complete -c pocketmq -n '${at}'`;
    return [
      ...it.words.map(({ name, doc }) =>
        `${start} -f -a ${name} -d '${quote(doc)}'`
      ),
      ...it.flags.map(({ long, short, doc }) =>
        `${start} -l ${long.slice(2)}${
          short === undefined ? "" : ` -s ${short.slice(1)}`
        } -d '${quote(doc)}'`
      ),
    ];
  });
  return lines.join("\n");
}
