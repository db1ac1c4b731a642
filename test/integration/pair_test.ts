/** `pocketmq pair` and `ha status` as somebody at a shell uses them. */
import { connect } from "node:net";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { PocketMQProcess, runPocketMQ } from "../support/pocketmq_process.ts";
import { eventually } from "../support/eventually.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

function haStatus(admin: string, ...more: string[]) {
  return runPocketMQ(["ha", "status", "--admin", `http://${admin}`, ...more]);
}

test("pair: what is sent with SEND_OK is read from the slave's copy; ha status tells both sides", () =>
  withTempDirectory(async (folder) => {
    const pair = await PocketMQProcess.start([
      "pair",
      "--store",
      folder,
      "--namesrv-port",
      "0",
      "--listen-port",
      "0",
      "--admin-port",
      "0",
    ]);
    try {
      await visit(pair, folder);
    } finally {
      assertEquals(await pair.stop(), 0);
    }
  }));

async function visit(pair: PocketMQProcess, folder: string): Promise<void> {
  const namesrv = pair.address("namesrv", "namesrv");
  const sent = await runPocketMQ([
    "produce",
    "T",
    "hello",
    "-n",
    namesrv,
    "--json",
  ]);
  assertEquals(sent.code, 0, sent.stderr);
  assert(sent.stdout.includes("SEND_OK"), sent.stdout);
  const slaveAdmin = pair.address("admin", "slave");
  // The slave looks at its master's end once a second.
  await eventually(async () =>
    (await haStatus(slaveAdmin, "--max-lag", "0")).code === 0
  );
  const master = await haStatus(pair.address("admin", "master"));
  assertEquals(master.code, 0, master.stdout + master.stderr);
  assert(master.stdout.startsWith("SYNC_MASTER broker-a (id 0)"));
  assert(master.stdout.includes(": healthy"));
  const slave = await haStatus(slaveAdmin, "--json");
  const status = JSON.parse(slave.stdout);
  assertEquals([status.role, status.state], ["SLAVE", "healthy"]);
  assertEquals(status.haClientRuntimeInfo.state, "TRANSFER");
  const dump = await runPocketMQ(["store", "dump", `${folder}/slave`]);
  const { msgId } = JSON.parse(sent.stdout.trim().split("\n")[0]!);
  assert(dump.stdout.includes(msgId), dump.stdout + dump.stderr);
}

test("pair: its nodes end with it, also when it is killed", () =>
  withTempDirectory(async (folder) => {
    const pair = await PocketMQProcess.start([
      ...["pair", "--store", folder, "--namesrv-port", "0"],
      ...["--listen-port", "0", "--admin-port", "0"],
    ]);
    const admins = ["namesrv", "master", "slave"].map((node) =>
      pair.address(node === "namesrv" ? "namesrv" : "admin", node)
    );
    await pair.stop("SIGKILL");
    await eventually(async () =>
      (await Promise.all(admins.map(isOpen))).every((it) => !it)
    );
  }));

function isOpen(address: string): Promise<boolean> {
  const at = address.lastIndexOf(":");
  const socket = connect(
    Number(address.slice(at + 1)),
    address.slice(0, at),
  );
  return new Promise((resolve) => {
    socket.on("connect", () => resolve(true));
    socket.on("error", () => resolve(false));
  }).finally(() => socket.destroy()) as Promise<boolean>;
}

test("ha status without a broker says so in one sentence", async () => {
  const { code, stderr } = await haStatus("127.0.0.1:1");
  assertEquals(code, 1);
  assertEquals(
    stderr,
    "pocketmq: Cannot reach http://127.0.0.1:1: nobody listens there; does the broker run? " +
      "--admin is the URL of its adminPort, 10913 by default\n",
  );
});
