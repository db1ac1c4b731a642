/** Does what its first argument says; the Process port's test looks on. */
import { spawnSync } from "node:child_process";
import { openRuntime } from "#runtime";

const { process, clock, fileSystem } = openRuntime();
const [command, ...rest] = process.args;

if (command === "echo") {
  const input = new TextDecoder().decode(await process.readStdin(1024));
  const isTerminal = process.isTerminal("stdout");
  process.write("stdout", [...rest, input, isTerminal].join("|"));
  process.exit(7);
} else if (command === "self") {
  const [program, ...args] = process.self;
  const ended = spawnSync(program!, [...args, "say", ...rest]);
  process.writeBytes("stdout", ended.stdout);
} else if (command === "say") {
  process.write("stdout", rest.join(" "));
} else if (command === "flood") {
  const block = new Uint8Array(1024 * 1024).fill(97);
  for (let count = 0; count < 4; count++) {
    if (!process.writeBytes("stdout", block)) process.exit(3);
  }
} else if (command === "write-far") {
  const file = fileSystem.open(rest[0]!, "create");
  try {
    file.writeAt(Number(rest[1]), new Uint8Array(1));
  } catch (error) {
    process.write("stdout", (error as Error).message);
  }
  file.close();
} else if (command === "sync") {
  const file = fileSystem.open(rest[0]!, "create");
  void file.sync().then(() => process.write("stdout", "synced"));
} else if (command === "signals") {
  clock.every(1000, () => {}); // Keeps the process alive.
  process.onSignal("SIGHUP", () => process.write("stdout", "SIGHUP"));
  process.onSignal("SIGTERM", () => {
    process.write("stdout", "SIGTERM");
    process.exit(0);
  });
  process.write("stdout", "ready");
}
