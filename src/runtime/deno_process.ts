/** The Process port of the Deno runtime, from source or as an executable. */
import { fileURLToPath } from "node:url";
import { NodeProcess } from "./node_process.ts";

/** The process that Deno runs. */
export function denoProcess(): NodeProcess {
  outliveFileSizeLimit();
  const executable = Deno.execPath();
  const self = Deno.build.standalone
    ? [executable]
    : [executable, "run", "-A", fileURLToPath(Deno.mainModule)];
  return new NodeProcess(
    Deno.args,
    self,
    () => Deno.stdin.readable,
  );
}

/**
 * A write beyond `ulimit -f` is to fail (EFBIG); without a listener the signal that goes with it
 * ends the process. Bun takes care of that by itself.
 */
function outliveFileSizeLimit(): void {
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGXFSZ", ignore);
}

function ignore(): void {}
