/**
 * The tour: builds the executable, starts a name server, a master and its
 * slave, sends and receives a few messages, reads the slave's copy, shows what
 * both say of each other, and stays up until Ctrl-C.
 * `--once` ends after the tour with exit 0.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { PocketMQProcess } from "../test/support/pocketmq_process.ts";
import { onlyArguments } from "./usage.ts";

const PROGRAM = "dist/pocketmq";
const TOPIC = "QuickStart";
const DEFAULT_PORTS = { namesrv: 9876, broker: 10911, admin: 10913 };

const once = process.argv.includes("--once");
onlyArguments("scripts/quickstart [--once]", ["--once"]);

say("Building dist/pocketmq: one file, no JVM, no Node.js needed to run it.");
run(["node_modules/.bin/bun", "scripts/build.ts"]);

const folder = mkdtempSync(`${tmpdir()}/pocketmq-quickstart-`);
const free = await portsAreFree();
const ports = free ? DEFAULT_PORTS : { namesrv: 0, broker: 0, admin: 0 };
if (!free) say("The usual ports are taken here, so free ones are used.");
const start = [
  "pair",
  "--store",
  folder,
  "--namesrv-port",
  String(ports.namesrv),
  "--listen-port",
  String(ports.broker),
  "--admin-port",
  String(ports.admin),
];
say("Starting a name server, a SYNC_MASTER and its SLAVE, each a process:");
console.log(`$ ${PROGRAM} ${start.join(" ")}`);
process.env.TEST_PROGRAM = "executable";
const server = await PocketMQProcess.start(start);
for (const { bound, name, node = "" } of server.ready.listeners) {
  console.log(`  ${node.padEnd(8)} ${name.padEnd(8)} ${bound}`);
}
console.log(`  ready in ${server.ready.ms} ms`);

let stopping = false;
process.on("SIGINT", () => void finish());
process.on("SIGTERM", () => void finish());
try {
  tour();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  await finish(1);
}
if (once) await finish();
say("It stays up until you press Ctrl-C; its data is then removed.");

function tour(): void {
  const namesrv = server.address("namesrv", "namesrv");
  say("Sending three messages (any RocketMQ client does the same):");
  pocketmq("produce", TOPIC, "hello", "-n", namesrv, "--tag", "Greeting");
  pocketmq("produce", TOPIC, "how are you", "-n", namesrv, "--key", "order-1");
  pocketmq("produce", TOPIC, "goodbye", "-n", namesrv);
  say("Receiving them:");
  const consumed = pocketmq(
    "consume",
    TOPIC,
    "-n",
    namesrv,
    "--group",
    "quickstart-readers",
    "--from",
    "first",
    "--count",
    "3",
    "--timeout",
    "30",
  );
  const got = consumed.split("\n").filter((it) => it !== "").sort();
  if (got.join() !== "goodbye,hello,how are you") {
    throw new Error(`Sent three messages and received: ${got.join(", ")}`);
  }
  say("The same messages in the slave's copy of the log, read from its files:");
  const copy = pocketmq("store", "dump", `${folder}/slave`, "--topic", TOPIC);
  if (copy.trim().split("\n").length !== 3) {
    throw new Error("The slave's copy does not have the three messages");
  }
  say("What the master and the slave say of each other, for people:");
  const admin = adminOf("master");
  for (const url of [admin, adminOf("slave")]) {
    // A slave looks at the end of its master's log once a second.
    pocketmq("ha", "status", "--admin", url);
  }
  say("and for programs:");
  for (const url of [admin, adminOf("slave")]) {
    run(
      ["curl", "-s", `${url}/admin/ha`],
      () => fetchText(`${url}/admin/ha`),
    );
  }
  if (once) {
    say(`That was all. "scripts/quickstart" keeps such a pair up until Ctrl-C;
"${PROGRAM} pair" keeps one whose data stays, in ./pocketmq-data/pair.`);
    return;
  }
  say(`Next:
  point a RocketMQ client at name server ${namesrv}
  open ${admin}/ in a browser
  kill one of the two brokers and watch the other: ${PROGRAM} ha status --watch --admin ${admin}
  ${PROGRAM} --help
  README.md tells about configuration, limits and the store's files`);
}

function adminOf(node: string): string {
  return `http://${server.address("admin", node)}`;
}

function pocketmq(...args: string[]): string {
  return run([PROGRAM, ...args]);
}

function fetchText(url: string): string {
  const script = `console.log(await (await fetch(${
    JSON.stringify(url)
  })).text())`;
  const child = Bun.spawnSync(["node_modules/.bin/bun", "-e", script]);
  if (child.exitCode !== 0) throw new Error(`No answer from ${url}`);
  return String(child.stdout);
}

/** Shows the command and what it prints; `instead` gives the text without running it. */
function run(command: string[], instead?: () => string): string {
  console.log(
    `$ ${command.map((it) => /\s/.test(it) ? `"${it}"` : it).join(" ")}`,
  );
  if (instead !== undefined) {
    const text = instead();
    console.log(text.trimEnd());
    return text;
  }
  const child = Bun.spawnSync(command, { stdout: "pipe", stderr: "pipe" });
  const text = String(child.stdout);
  if (text !== "") console.log(text.trimEnd());
  if (child.exitCode !== 0) {
    throw new Error(`${command.join(" ")} failed: ${child.stderr}`);
  }
  return text;
}

function say(text: string): void {
  console.log(`\n${text}`);
}

async function portsAreFree(): Promise<boolean> {
  const wanted = [
    9876,
    10909,
    10911,
    10912,
    10913,
    10919,
    10921,
    10922,
    10923,
  ];
  const results = await Promise.all(
    wanted.map((port) =>
      new Promise<boolean>((resolve) => {
        const probe = createServer();
        probe.once("error", () => resolve(false));
        probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
      })
    ),
  );
  return results.every((it) => it);
}

async function finish(code = 0): Promise<void> {
  if (stopping) return;
  stopping = true;
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
  process.exit(code);
}
