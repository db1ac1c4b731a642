/** The Process port of the Deno runtime, from source or as an executable. */
import { fileURLToPath } from "node:url";
import { NodeProcess } from "./node_process.ts";

/** The process that Deno runs. */
export function denoProcess(): NodeProcess {
  const executable = Deno.execPath();
  const self = Deno.build.standalone
    ? [executable]
    : [executable, "run", "-A", fileURLToPath(Deno.mainModule)];
  return new NodeProcess(
    Deno.args,
    self,
    () => new Response(Deno.stdin.readable).bytes(),
  );
}
