import { assert, assertEquals } from "@std/assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { run } from "./fake_process.ts";

async function checked(text: string, ...args: string[]) {
  const folder = mkdtempSync(`${tmpdir()}/pocketmq-test-`);
  try {
    writeFileSync(`${folder}/broker.conf`, text);
    const done = await run(["check-config", `${folder}/broker.conf`, ...args]);
    return { ...done, stderr: done.stderr.replaceAll(folder, "") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("check-config prints values and their origin", async () => {
  const { code, stdout } = await checked(
    "brokerName=a\nfileReservedTime=48\n",
    "--set",
    "listenPort=0",
    "--given",
  );
  assertEquals(code, 0);
  const lines = stdout.trim().split("\n").map((it) => it.split(/\s{2,}/));
  assertEquals(lines[0], ["KEY", "VALUE", "UNIT", "FROM", "LIVE"]);
  const row = (key: string) => lines.find(([it]) => it === key)!;
  assertEquals(row("brokerName")[1], "a");
  assert(row("fileReservedTime")[3]!.endsWith("broker.conf:2"));
  assertEquals(row("fileReservedTime")[4], "yes");
  assertEquals(row("listenPort")[3], "--set");
  assertEquals(lines.length, 5);
  assert(stdout.trim().endsWith("is valid"));
});

test("check-config --json lists every key and the warnings", async () => {
  const { stdout } = await checked("lisenPort=1\n", "--json");
  const found = JSON.parse(stdout);
  assertEquals(found.valid, true);
  assert(found.warnings[0].includes("did you mean listenPort?"));
  assert(found.entries.length > 100);
});

test("check-config says what is wrong and where", async () => {
  const { code, stderr } = await checked("\nmaxMessageSize=lots\n");
  assertEquals(code, 2);
  assert(stderr.includes("maxMessageSize=lots from /broker.conf:2"), stderr);
  const namesrv = await checked("listenPort=x", "--as", "namesrv");
  assertEquals(namesrv.code, 2);
});
