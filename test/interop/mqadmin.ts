/** Apache's own administration tool. */
import { ApacheProcess, prepareApacheHome } from "./apache_process.ts";

const MARK = /^==== mqadmin .*\n/m;

/**
 * Runs mqadmin commands of one version, one after the other in one JVM, and
 * gives what each printed. `folder` is a home of its own. The tool exits 0
 * whatever happened: judge by the text.
 */
export async function mqadmin(
  version: string,
  folder: string,
  commands: string[][],
): Promise<string[]> {
  const home = `${folder}/mqadmin`;
  prepareApacheHome(home);
  const process = new ApacheProcess({
    version,
    mainClass: "pocketmq.Tools",
    args: commands.flatMap((it) => ["--", ...it]),
    home,
    heapMb: 128,
  });
  const code = await process.exited;
  const outputs = process.stdout.split(MARK).slice(1);
  if (code !== 0 || outputs.length !== commands.length) {
    throw new Error(`mqadmin ${version} ended with ${code}: ${process.output}`);
  }
  return outputs;
}

/** The rows of a table that the tool printed, split into words, without its heading. */
export function rowsOf(output: string): string[][] {
  return output.split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => line.trim().split(/\s+/));
}
