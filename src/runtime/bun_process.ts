/** The Process port of the Bun runtime, from source or as an executable. */
import process from "node:process";
import { NodeProcess } from "./node_process.ts";

/** Where a compiled executable sees its own sources. */
const EMBEDDED_ROOT = "/$bunfs/";

/** The process that Bun runs. */
export function bunProcess(): NodeProcess {
  const isExecutable = Bun.main.startsWith(EMBEDDED_ROOT);
  return new NodeProcess(
    process.argv.slice(2),
    isExecutable ? [process.execPath] : [process.execPath, Bun.main],
    () => Bun.stdin.stream(),
  );
}
