import { assert, assertEquals } from "@std/assert";
import type { Command } from "commander";
import { createServer } from "node:net";
import { test } from "node:test";
import { failureOf } from "../../src/cli/cli_error.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { ConfigError } from "../../src/config/config_error.ts";
import { FakeProcess, run, runtimeOf } from "./fake_process.ts";

function program(): Command {
  const process = new FakeProcess([]);
  return buildProgram({
    runtime: runtimeOf(process),
    process,
    startedMs: 0,
    exitCode: 0,
  });
}

function leaves(command: Command, path: string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[path.join(" "), command]];
  return command.commands.flatMap((it) => leaves(it, [...path, it.name()]));
}

test("runCli() prints help and version with exit 0", async () => {
  for (const args of [["--help"], ["topic", "--help"], ["help", "produce"]]) {
    const done = await run(args);
    assertEquals([done.code, done.stderr], [0, ""]);
    assert(done.stdout.startsWith("Usage: pocketmq"));
  }
  assertEquals(await run(["--version"]), {
    code: 0,
    stdout: "0.1.0\n",
    stderr: "",
  });
});

const STORE = "/nonexistent/store";
const STANDALONE = [
  "standalone",
  "--store",
  STORE,
  ...["--listen-port", "0", "--namesrv-port", "0", "--admin-port", "0"],
];
const TOKEN = ["--set", "adminToken=0123456789abcdef"];

test("--help names the file that the program reads", async () => {
  for (
    const [command, file] of [
      ["namesrv", "namesrv.conf"],
      ["broker", "broker.conf"],
      ["standalone", "broker.conf"],
    ] as const
  ) {
    const { stdout } = await run([command, "--help"]);
    assert(stdout.includes(`as Apache's ${file}`), stdout);
  }
});

const RESET = ["group", "reset-offset", "g", "--topic", "T"];

const USAGE_ERRORS: readonly [args: string[], includes: string][] = [
  [["brocker"], "unknown command 'brocker'"],
  [["broker", "--colour"], "unknown option '--colour'"],
  [["topic", "create"], "missing required argument 'topic'"],
  [["topic", "create", "T", "--queues", "0"], "from 1 to 65535"],
  [["topic", "create", "T", "--perm", "x"], "r, w, rw"],
  [["topic", "create", "a b"], "illegal characters"],
  [["group", "create", "a b"], "a b"],
  [["group", "clone-offset", "g", "g"], "name two groups"],
  [[...RESET, "--to", "first", "--offset", "1"], "one of --to and --offset"],
  [RESET, "one of --to and --offset"],
  [[...RESET, "--offset", "1"], "--offset needs --queue"],
  [
    ["message", "consume-directly", "x", "--group", "g"],
    "give an offset id",
  ],
  [["produce", "T"], "--file or --size"],
  [["produce", "T", "x", "--size", "1"], "not several"],
  [["produce", "T", "x", "--property", "novalue"], "key=value"],
  [
    ["produce", "T", "--file", "/nonexistent/body"],
    "pocketmq: Cannot open /nonexistent/body: there is no such file",
  ],
  [["produce", "T", "x", "--key", "a b"], 'Cannot use --key "a b": a key'],
  [
    ["produce", "T", "x", "--property", "a=b\u0002WAIT\u0001false"],
    "character",
  ],
  [["produce", "T", "x", "--key", ""], 'Cannot use --key "": a key'],
  [
    ["produce", "T", "--size", "x"],
    "Give a whole number from 0 to 67108864; see pocketmq produce --help",
  ],
  [["produce", "T", "x", "--delay-level", "19"], "from 1 to 18"],
  [["produce", "T", "x", "-n", "nowhere"], "host:port"],
  [["produce", "T", "x", "-n", "127.0.0.1:99999"], "127.0.0.1:99999: give"],
  [["produce", "T", "x", "-n", "127.0.0.1:0"], "127.0.0.1:0: give host:port"],
  [["produce", "T", "x", "-n", ""], '"": give host:port'],
  [["topic", "list", "-n", " ; "], '" ; ": give host:port'],
  [["topic", "list", "-n", "a:1;b"], "name server b: give host:port"],
  [["cluster", "status", "127.0.0.1:99999"], "name, or host:port"],
  [["topic", "create", "T", "--broker", ""], "name, or host:port"],
  [["message", "show", `7F00000100009683${"F".repeat(16)}`], "behind 2^53 - 1"],
  [["group", "delete", "TOOLS_CONSUMER"], "belongs to the system"],
  [["topic", "delete", "TBW102"], "belongs to the system"],
  [["consume", "T"], "--group"],
  [["consume", "T", "--group", "g", "--from", "noon"], "--from noon"],
  [["consume", "T", "--group", "g", "--tag", "a", "--sql", "b"], "not both"],
  [["message", "show", "xyz"], "32 or 56 hex digits"],
  [
    ["message", "show", "AC1100021F2C1B4E5D6C00A1B2C30001"],
    "for an id that a client made, as produce prints, give --topic",
  ],
  [["message", "query", "T", "--key", "k", "--begin", "x"], "--begin x"],
  [["config", "set", "nothing"], "key=value"],
  [["health", "--admin", "nonsense"], "give a URL"],
  [["store", "verify", "/nonexistent"], "no such folder"],
  [["completion", "tcsh"], "bash, zsh, fish"],
  [["check-config", "/nonexistent.conf"], "/nonexistent.conf"],
  [["broker", "--set", "listenPort"], "key=value"],
  [["broker", "--listen-port", "abc"], "listenPort=abc"],
  [["standalone", "--set", "authorizationEnabled=true"], "signatures"],
  [[...STANDALONE, "--set", "aclEnable=true"], "no such file; write one"],
  [["pair", "--set", "haSyncMode=maybe"], "The master: Cannot use haSyncMode"],
  [["pair", "--set", "nothing"], "key=value"],
  [["pair", "--listen-port", "65530"], "from 0 to 65524"],
  [["pair", "--listen-port", "10903"], "Port 10913 would be"],
  [["namesrv", "--listen-port", "-1"], "listenPort=-1"],
  [["standalone", "--bind", "a b"], "bindAddress=a b from --bind: give an IP"],
  [["namesrv", "--bind", "10.0.0.256"], "bindAddress=10.0.0.256 from --bind"],
  [
    [...STANDALONE, "--bind", "nosuch.invalid"],
    "bindAddress=nosuch.invalid: the name cannot be resolved",
  ],
  [["namesrv", "--bind", "nosuch.invalid"], "bindAddress=nosuch.invalid"],
  [
    [
      ...["broker", "--store", STORE, "--bind", "nosuch.invalid"],
      ...["--admin-port", "0"],
    ],
    "bindAddress=nosuch.invalid",
  ],
  [
    [...STANDALONE, "--set", "adminListenAddress=nosuch.invalid", ...TOKEN],
    "adminListenAddress=nosuch.invalid: the name cannot be resolved",
  ],
  [
    [...STANDALONE, "--set", "adminListenAddress=192.0.2.7", ...TOKEN],
    "adminListenAddress=192.0.2.7: this machine has no such address",
  ],
];

test("NAMESRV_ADDR is read as strictly as -n", async () => {
  const env = { NAMESRV_ADDR: "x y" };
  const { code, stderr } = await run(["broker"], env);
  assertEquals(code, 2, stderr);
  assert(stderr.includes("namesrvAddr=x y from NAMESRV_ADDR"), stderr);
});

test("--admin at a port that speaks no HTTP is told so", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const admin = `http://127.0.0.1:${port}`;
  const { code, stderr } = await run(["ha", "status", "--admin", admin]);
  await new Promise((resolve) => server.close(resolve));
  assertEquals(code, 1);
  assert(stderr.includes("speaks no HTTP"), stderr);
});

for (const [args, includes] of USAGE_ERRORS) {
  test(`runCli() ${args.join(" ")} ends with 2 and one sentence`, async () => {
    const { code, stdout, stderr } = await run(args);
    assertEquals([code, stdout], [2, ""]);
    assertEquals(stderr.trim().split("\n").length, 1, stderr);
    assert(stderr.startsWith("pocketmq: "), stderr);
    assert(stderr.includes(includes), stderr);
  });
}

test("every command has a description and, unless it starts nothing to print, --json", () => {
  const without = new Set(["completion"]);
  for (const [path, command] of leaves(program())) {
    assert(command.description() !== "", path);
    const hasJson = command.options.some((it) => it.long === "--json");
    assertEquals(hasJson, !without.has(path), path);
  }
});

test("the commands of the contract are there", () => {
  const paths = leaves(program()).map(([path]) => path);
  for (
    const path of [
      "standalone",
      "broker",
      "namesrv",
      "produce",
      "consume",
      "topic create",
      "group lag",
      "message show",
      "cluster list",
      "config get",
      "store inspect",
      "store verify",
      "store dump",
      "health",
      "check-config",
      "completion",
    ]
  ) {
    assert(paths.includes(path), path);
  }
});

test("completion scripts name every command", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await run(["completion", shell]);
    assertEquals(code, 0);
    for (const [path] of leaves(program())) {
      const name = path.split(" ").at(-1)!;
      assert(stdout.includes(name), `${shell} ${path}`);
    }
    assert(stdout.includes("namesrv-port"), shell);
    // `update` is another name of `topic create` and `group create`.
    assert(/\bupdate\b/.test(stdout), shell);
    const path = shell === "fish"
      ? "from topic; and __fish_seen_subcommand_from update"
      : "topic update";
    assert(stdout.includes(path), shell);
  }
});

test("failureOf() completes start errors by key, value and cure", () => {
  const cured = Object.assign(new Error("Cannot lock the store"), {
    key: "storePathRootDir",
    value: "/data",
    cure: "stop the other process",
  });
  assertEquals(failureOf(cured), {
    exitCode: 2,
    sentence:
      "Cannot lock the store (storePathRootDir=/data); stop the other process",
  });
  const config = new ConfigError("listenPort", "x", "give a number");
  assertEquals(failureOf(config), {
    exitCode: 2,
    sentence: "Cannot use listenPort=x: give a number",
  });
  assertEquals(failureOf(new Error("two\n  lines")), {
    exitCode: 1,
    sentence: "two lines",
  });
});
