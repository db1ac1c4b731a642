import { assert, assertEquals } from "@std/assert";
import { execFile } from "node:child_process";
import { test } from "node:test";

function run(script: string, argument: string) {
  return new Promise<{ code: number; stdout: string; stderr: string }>(
    (resolve) => {
      const args = [`scripts/${script}.ts`, argument];
      execFile("node_modules/.bin/bun", args, (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), stdout, stderr });
      });
    },
  );
}

for (const script of ["bench", "build", "quickstart", "test", "torture"]) {
  test(`scripts/${script} tells its usage, and refuses what it does not know`, async () => {
    const help = await run(script, "--help");
    assertEquals([help.code, help.stderr], [0, ""]);
    assert(help.stdout.startsWith(`Usage: scripts/${script} [`), help.stdout);
    const bogus = await run(script, "--bogus");
    assertEquals([bogus.code, bogus.stdout], [2, ""]);
    assert(bogus.stderr.includes("--bogus"), bogus.stderr);
  });
}
