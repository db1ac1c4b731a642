import { assert, assertEquals } from "@std/assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { run } from "./fake_process.ts";

async function checked(text: string | Uint8Array, ...args: string[]) {
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

test("check-config --as standalone shows the keys of its name server", async () => {
  const { code, stderr, stdout } = await checked(
    "orderMessageEnable=true\n",
    "--as",
    "standalone",
    "--given",
  );
  assertEquals([code, stderr], [0, ""]);
  assert(/^orderMessageEnable +true /m.test(stdout), stdout);
});

test("check-config says what is wrong and where", async () => {
  const { code, stderr } = await checked("\nmaxMessageSize=lots\n");
  assertEquals(code, 2);
  assert(stderr.includes("maxMessageSize=lots from /broker.conf:2"), stderr);
  const namesrv = await checked("listenPort=x", "--as", "namesrv");
  assertEquals(namesrv.code, 2);
});

const THREE_WRONG =
  "listenPort=x\nbrokerName=a\nauthenticationEnabled=yes\nfileReservedTime=-1\n";

test("check-config lists everything that is wrong, a line each", async () => {
  const { code, stdout, stderr } = await checked(THREE_WRONG);
  assertEquals([code, stdout], [2, ""]);
  const keys = stderr.trim().split("\n").map((it) =>
    /^pocketmq: Cannot use (\w+)=/.exec(it)?.[1]
  );
  assertEquals(keys.sort(), [
    "authenticationEnabled",
    "fileReservedTime",
    "listenPort",
  ]);
  const rules = await checked(
    "adminPort=10911\nmaxStoreBytes=1\ndiskSpaceWarningLevelRatio=1\n",
  );
  assertEquals(rules.stderr.trim().split("\n").length, 3, rules.stderr);
});

test("check-config lists what contradicts, and unknown keys, beside wrong ones", async () => {
  const { code, stderr } = await checked(
    "listenPort=x\nminInSyncReplicas=3\nlisenPort=1\n",
  );
  assertEquals(code, 2);
  const lines = stderr.trim().split("\n");
  assertEquals(lines.length, 3, stderr);
  for (
    const [index, key] of ["listenPort=x", "minInSyncReplicas=3", "lisenPort"]
      .entries()
  ) {
    assert(lines[index]!.includes(key), stderr);
  }
});

test("check-config --json says what is wrong in JSON", async () => {
  const { code, stdout, stderr } = await checked(THREE_WRONG, "--json");
  assertEquals([code, stderr], [2, ""]);
  const { valid, errors } = JSON.parse(stdout);
  assertEquals([valid, errors.length], [false, 3]);
  const { message, origin, ...named } = errors.find((it: { key: string }) =>
    it.key === "listenPort"
  );
  assertEquals(named, { key: "listenPort", value: "x" });
  assert(origin.endsWith("broker.conf:1"), origin);
  assert(message.startsWith("give a whole number"), message);
  const missing = await run(["check-config", "/nonexistent.conf", "--json"]);
  assertEquals([missing.code, missing.stderr], [2, ""]);
  assertEquals(JSON.parse(missing.stdout).errors[0].key, "--config");
  const secret = await checked("adminToken=sesame\n", "--json");
  assert(!secret.stdout.includes("sesame"), secret.stdout);
});

test("check-config refuses what is no text in UTF-8", async () => {
  const bad = [
    Uint8Array.of(0x6b, 0x3d, 0xff, 0xfe),
    new TextEncoder().encode("brokerName=a\u0000b"),
    new TextEncoder().encode("a=\u001b[2J"),
    Uint8Array.from({ length: 1000 }, (_, index) => (index * 7919) & 0xff),
  ];
  for (const bytes of bad) {
    const { code, stdout, stderr } = await checked(bytes);
    assertEquals([code, stdout], [2, ""]);
    assert(stderr.includes("it is no text in UTF-8"), stderr);
  }
  const fine = await checked("\ufeff# h\u00f6chstens\r\nbrokerName=a\t\r\n");
  assertEquals(fine.code, 0, fine.stderr);
});

test("no message gives the terminal a control character", async () => {
  const escape = "x\u001b[2J\u009b5m\u202e";
  const seen = [
    await checked("brokerName=\\u001b[2J\n"),
    await checked("\\u001bkey=1\n"),
    await checked("msgTraceTopicName=\\u001b[2J\n"),
    await run(["broker", "--set", `listenPort=${escape}`]),
    await run(["broker", "--set", escape]),
    await run([escape]),
    await run(["message", "show", escape]),
    await run(["produce", "T", "--size", escape]),
    await run(["produce", escape, "x"]),
  ];
  for (const { stdout, stderr } of seen) {
    const text = (stdout + stderr).replaceAll("\n", "");
    assert(!/[\p{Cc}\u202e]/u.test(text), JSON.stringify(text));
    assert(text.includes("\\u001b") || text.includes("?"), text);
  }
});

test("a server with several wrong keys says one and where the others are listed", async () => {
  const { code, stderr } = await run([
    "broker",
    "--set",
    "listenPort=x",
    "--set",
    "adminPort=y",
  ]);
  assertEquals(code, 2);
  assert(/\(1 more: see pocketmq check-config\)\n$/.test(stderr), stderr);
});
