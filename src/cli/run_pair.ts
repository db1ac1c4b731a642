/**
 * runPair: the life of `pocketmq pair`. Three processes of this program, so that each can be
 * killed and started again by hand, as two machines would be.
 */
import type { ChildProgram } from "../runtime/process.ts";
import { loadBrokerConfig } from "../config/broker_config.ts";
import { ConfigError } from "../config/config_error.ts";
import { loadNamesrvConfig } from "../config/namesrv_config.ts";
import { adminJson, adminUrl } from "./admin_client.ts";
import { type CliContext, printLine } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { brokerInput, hostFacts, namesrvInput } from "./config_input.ts";
import type { ServerFlags } from "./options.ts";
import { type RunningServer, serve, type ServerListener } from "./serve.ts";

/** Options of `pair`. */
export interface PairFlags {
  readonly store?: string;
  readonly namesrvPort?: number;
  readonly listenPort?: number;
  readonly adminPort?: number;
  readonly bind?: string;
  readonly set: readonly string[];
  readonly json?: boolean;
}

/** One of the three. */
interface PairNode {
  readonly name: string;
  readonly args: readonly string[];
  readonly child: ChildProgram;
  readonly listeners: readonly ServerListener[];
}

const NAMESRV_PORT = 9_876;
const LISTEN_PORT = 10_911;
const ADMIN_PORT = 10_913;
/** Between the ports of the master and the slave's. */
const SLAVE_DISTANCE = 10;
const READY_MAX_MS = 30_000;
const HEALTHY_MAX_MS = 10_000;
const POLL_MS = 50;
/** How the last line of a program begins that fails. */
const SENTENCE = "pocketmq: ";
/** Small files, in Apache's proportions, and no line for every step. */
const SMALL = [
  "mappedFileSizeCommitLog=64M",
  "mappedFileSizeConsumeQueue=375000",
  "maxHashSlotNum=312500",
  "maxIndexNum=1250000",
  "logLevel=warn",
];

/** Runs until a signal. */
export function runPair(
  context: CliContext,
  flags: PairFlags,
): Promise<number> {
  return serve(context, flags.json === true, () => start(context, flags));
}

async function start(
  context: CliContext,
  flags: PairFlags,
): Promise<RunningServer> {
  checkNodes(context, flags);
  const nodes: PairNode[] = [];
  let isStopping = false;
  const stop = async () => {
    isStopping = true;
    for (const { child } of nodes.toReversed()) {
      child.kill("SIGTERM");
      await child.exited;
    }
  };
  const open = async (name: string, args: readonly string[]) => {
    const node = await openNode(context, name, args);
    nodes.push(node);
    void node.child.exited.then(() => {
      if (!isStopping) sayEnded(context, node);
    });
    return node;
  };
  try {
    const namesrv = await open(
      "namesrv",
      argsOf("namesrv", namesrvFlags(flags)),
    );
    const namesrvAddr = boundOf(namesrv, "namesrv");
    const argsOfBroker = (brokerId: number) =>
      argsOf("broker", brokerFlags(context, flags, namesrvAddr, brokerId));
    const master = await open("master", argsOfBroker(0));
    const slave = await open("slave", argsOfBroker(1));
    await healthy(context, master);
    if (flags.json !== true) {
      for (const it of nodes) sayWhere(context, it);
      printLine(
        context,
        `try: pocketmq produce T hello -n ${namesrvAddr}; ` +
          `pocketmq ha status --admin http://${boundOf(slave, "admin")}`,
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    listeners: nodes.flatMap((it) => it.listeners),
    stop,
    reload: () => nodes.forEach(({ child }) => child.kill("SIGHUP")),
  };
}

/** What is wrong with the settings is said in one sentence, before anything runs. */
function checkNodes(context: CliContext, flags: PairFlags): void {
  const facts = hostFacts(context);
  const check = (name: string, load: () => unknown) => {
    try {
      load();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new CliError(`The ${name}: ${error.message}`, 2, { cause: error });
    }
  };
  check(
    "namesrv",
    () => loadNamesrvConfig(namesrvInput(context, namesrvFlags(flags)), facts),
  );
  for (const [brokerId, name] of ["master", "slave"].entries()) {
    const broker = brokerFlags(context, flags, "127.0.0.1:9876", brokerId);
    const input = brokerInput(context, broker);
    check(name, () => loadBrokerConfig(input, "apache", facts));
  }
  checkPorts(flags);
}

/** The ports of three nodes on one machine. */
function checkPorts(flags: PairFlags): void {
  const owners = new Map<number, string>();
  const claim = (port: number, owner: string) => {
    const other = owners.get(port);
    if (other !== undefined) {
      throw new CliError(
        `Port ${port} would be ${other} and ${owner}: give others by --namesrv-port, --listen-port and --admin-port`,
        2,
      );
    }
    owners.set(port, owner);
  };
  const { adminPort, listenPort, namesrvPort } = flags;
  if (namesrvPort !== 0) {
    claim(namesrvPort ?? NAMESRV_PORT, "the name server's");
  }
  for (const [index, node] of ["master", "slave"].entries()) {
    const distance = index * SLAVE_DISTANCE;
    const listen = (listenPort ?? LISTEN_PORT) + distance;
    const admin = (adminPort ?? ADMIN_PORT) + distance;
    if (listenPort !== 0) {
      for (const it of [listen - 2, listen, listen + 1]) {
        claim(it, `the ${node}'s`);
      }
    }
    if (adminPort !== 0) claim(admin, `the ${node}'s admin port`);
  }
}

function namesrvFlags({ bind, namesrvPort }: PairFlags): ServerFlags {
  return {
    listenPort: String(namesrvPort ?? NAMESRV_PORT),
    bind: bind ?? "127.0.0.1",
    set: ["logLevel=warn"],
  };
}

/** `brokerId` 0 is the master. */
function brokerFlags(
  { process }: CliContext,
  flags: PairFlags,
  namesrvAddr: string,
  brokerId: number,
): ServerFlags {
  const store = flags.store ?? "./pocketmq-data/pair";
  const isMaster = brokerId === 0;
  const portOf = (port: number) =>
    String(port === 0 || isMaster ? port : port + SLAVE_DISTANCE);
  return {
    namesrv: namesrvAddr,
    store: `${store}/${isMaster ? "master" : "slave"}`,
    listenPort: portOf(flags.listenPort ?? LISTEN_PORT),
    adminPort: portOf(flags.adminPort ?? ADMIN_PORT),
    bind: flags.bind ?? "127.0.0.1",
    set: [
      "brokerName=broker-a",
      `brokerId=${brokerId}`,
      `brokerRole=${isMaster ? "SYNC_MASTER" : "SLAVE"}`,
      ...SMALL,
      // Its standard error is a pipe to here, and no terminal.
      ...(process.isTerminal("stderr") ? ["logFormat=text"] : []),
      ...flags.set,
    ],
  };
}

/** The command line that gives those flags. */
function argsOf(program: string, flags: ServerFlags): string[] {
  const named = [
    ["--namesrv", flags.namesrv],
    ["--store", flags.store],
    ["--listen-port", flags.listenPort],
    ["--admin-port", flags.adminPort],
    ["--bind", flags.bind],
  ] as const;
  return [
    program,
    ...named.flatMap(([flag, value]) =>
      value === undefined ? [] : [flag, value]
    ),
    ...flags.set.flatMap((it) => ["--set", it]),
  ];
}

/** Starts one and waits for its ready line. */
async function openNode(
  context: CliContext,
  name: string,
  args: readonly string[],
): Promise<PairNode> {
  const ready = Promise.withResolvers<readonly ServerListener[] | string>();
  let reason: string | null = null;
  const child = context.process.spawnSelf(
    [...args, "--json"],
    (line, stream) => {
      if (stream === "stderr") {
        if (line.startsWith(SENTENCE)) reason = line.slice(SENTENCE.length);
        else context.process.write("stderr", `${namedLine(name, line)}\n`);
      } else if (line.startsWith('{"ready":true')) {
        ready.resolve(listenersOf(name, line));
      }
    },
  );
  let exitCode: number | null = null;
  void child.exited.then((code) => {
    exitCode = code;
    ready.resolve(reason ?? `it ended with code ${code}`);
  });
  const timer = context.runtime.clock.after(READY_MAX_MS, () => {
    child.kill("SIGTERM");
    ready.resolve(`it was not ready within ${READY_MAX_MS / 1000} s`);
  });
  const listeners = await ready.promise;
  timer.cancel();
  if (typeof listeners !== "string") return { name, args, child, listeners };
  const message = `Cannot start the ${name}: ${listeners}`;
  throw new CliError(message, exitCode === 2 ? 2 : 1);
}

/** A log line with the name of its node. */
function namedLine(name: string, line: string): string {
  return line.startsWith("{")
    ? `{"node":"${name}",${line.slice(1)}`
    : `${name.padEnd(8)} ${line}`;
}

function listenersOf(node: string, line: string): ServerListener[] {
  const { listeners } = JSON.parse(line) as {
    listeners: Omit<ServerListener, "node" | "why">[];
  };
  return listeners.map((it) => ({ ...it, node, why: "as `pair` chose it" }));
}

function boundOf(node: PairNode, name: ServerListener["name"]): string {
  return node.listeners.find((it) => it.name === name)!.bound;
}

/** Waits until the slave counts; a pair that takes longer is shown as it is. */
async function healthy(context: CliContext, master: PairNode): Promise<void> {
  const { clock } = context.runtime;
  const url = adminUrl(`http://${boundOf(master, "admin")}`, "/admin/ha");
  const deadlineMs = clock.monotonicMs() + HEALTHY_MAX_MS;
  while (clock.monotonicMs() < deadlineMs) {
    const status = await adminJson(context, url) as { state?: string };
    if (status.state === "healthy") return;
    await new Promise<void>((resolve) => clock.after(POLL_MS, resolve));
  }
}

/** Process ids, for whoever wants to kill one; and where to look. */
function sayWhere(context: CliContext, { child, listeners, name }: PairNode) {
  const admin = listeners.find((it) => it.name === "admin");
  const url = admin === undefined ? "" : `, http://${admin.bound}/admin/ha`;
  printLine(context, `${name.padEnd(8)} pid ${child.pid}${url}`);
}

/** A node that was killed: how to start it again, on the ports that it had. */
function sayEnded(context: CliContext, node: PairNode): void {
  const args = withPort(
    withPort(node.args, "--listen-port", portOf(node, mainListener(node))),
    "--admin-port",
    portOf(node, "admin"),
  );
  printLine(
    context,
    `the ${node.name} has ended; start it again by: pocketmq ${args.join(" ")}`,
  );
}

function mainListener({ name }: PairNode): ServerListener["name"] {
  return name === "namesrv" ? "namesrv" : "broker";
}

function portOf(
  { listeners }: PairNode,
  name: ServerListener["name"],
): string {
  const bound = listeners.find((it) => it.name === name)?.bound ?? "";
  return bound.slice(bound.lastIndexOf(":") + 1);
}

function withPort(
  args: readonly string[],
  flag: string,
  port: string,
): readonly string[] {
  return args.map((it, index) => args[index - 1] === flag ? port : it);
}
