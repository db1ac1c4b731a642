import { assertEquals, assertStringIncludes } from "@std/assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { withTempDirectory } from "../support/temp_directory.ts";
import { openRuntime } from "#runtime";

const PROBE = fileURLToPath(
  new URL("../support/process_probe.ts", import.meta.url),
);

function probeArgs(): string[] {
  return openRuntime().name === "deno" ? ["run", "-A", PROBE] : [PROBE];
}

/** A process of ours that does what its first argument says. */
function probe(...args: string[]) {
  return spawn(process.execPath, [...probeArgs(), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

async function outputOf(child: ReturnType<typeof probe>): Promise<string> {
  const parts: string[] = [];
  child.stdout.on("data", (it) => parts.push(String(it)));
  await once(child, "close");
  return parts.join("");
}

describe("Process", () => {
  it("gives arguments, input and exit code", async () => {
    const child = probe("echo", "a b", "--json");
    child.stdin.end("from stdin");
    assertEquals(await outputOf(child), "a b|--json|from stdin|false");
    assertEquals(child.exitCode, 7);
  });

  it("can run itself again", async () => {
    const child = probe("self", "again");
    child.stdin.end();
    assertEquals(await outputOf(child), "again");
  });

  it("writes all to a slow pipe", async () => {
    const child = probe("flood");
    child.stdin.end();
    const text = await outputOf(child);
    assertEquals(text.length, 4 * 1024 * 1024);
    assertEquals(child.exitCode, 0);
  });

  it("tells a reader that has gone from one that is slow", async () => {
    const child = probe("flood");
    child.stdin.end();
    await once(child.stdout, "data");
    child.stdout.destroy();
    await once(child, "exit");
    assertEquals(child.exitCode, 3);
  });

  it("ends by itself, but not before a running sync has", async () => {
    await withTempDirectory(async (root) => {
      const child = probe("sync", `${root}/a`);
      child.stdin.end();
      assertEquals(await outputOf(child), "synced");
      assertEquals(child.exitCode, 0);
    });
  });

  it("outlives a write beyond ulimit -f, and names it", async () => {
    if (process.platform === "win32") return;
    await withTempDirectory(async (root) => {
      const limited = ["-c", 'ulimit -S -f 400000; exec "$@"', "sh"];
      const command = [process.execPath, ...probeArgs()];
      const child = spawn("sh", [
        ...limited,
        ...command,
        "write-far",
        `${root}/a`,
        "1000000000",
      ], { stdio: ["pipe", "pipe", "inherit"] });
      child.stdin.end();
      assertStringIncludes(await outputOf(child), "ulimit -f");
    });
  });

  it("hears signals", async () => {
    const child = probe("signals");
    const heard: string[] = [];
    child.stdout.on("data", (it) => {
      heard.push(String(it));
      // Deno's `child.kill` works only once.
      if (String(it).includes("ready")) process.kill(child.pid!, "SIGHUP");
      if (String(it).includes("SIGHUP")) process.kill(child.pid!, "SIGTERM");
    });
    await once(child, "close");
    assertStringIncludes(heard.join(""), "SIGTERM");
    assertEquals(child.exitCode, 0);
  });
});
