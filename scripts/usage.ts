/** What every script does with `--help`, and with arguments that it does not know. */
import process from "node:process";

/** Prints `usage` and ends with 0 when somebody asks for it. */
export function helpOnRequest(usage: string): void {
  const args = process.argv.slice(2);
  if (!args.includes("--help") && !args.includes("-h")) return;
  console.log(`Usage: ${usage}`);
  process.exit(0);
}

/** As `helpOnRequest`; ends with 2 for an argument that is none of `known`. */
export function onlyArguments(usage: string, known: readonly string[]): void {
  helpOnRequest(usage);
  const unknown = process.argv.slice(2).find((it) => !known.includes(it));
  if (unknown === undefined) return;
  console.error(`Unknown argument ${unknown}: use ${usage}`);
  process.exit(2);
}
