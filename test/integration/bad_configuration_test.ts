/** Wrong configuration: one sentence on standard error that names key, value and cure; exit 2. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import process from "node:process";
import { test } from "node:test";
import {
  startBrokerProcess,
  withProcesses,
} from "../support/broker_process.ts";
import { eventually } from "../support/eventually.ts";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import { withSite } from "../support/site.ts";

const FREE = ["--listen-port", "0", "--namesrv-port", "0", "--admin-port", "0"];

/** What the start of any process takes on this machine, now. */
async function bareStartMs(): Promise<number> {
  const startedAt = Date.now();
  await runPocketMQ(["--version"]);
  return Date.now() - startedAt;
}

async function refused(args: string[], ...parts: RegExp[]): Promise<void> {
  const startedAt = Date.now();
  const done = await runPocketMQ(args);
  const elapsedMs = Date.now() - startedAt;
  assertEquals(done.code, 2, `${args.join(" ")}: ${done.stdout}${done.stderr}`);
  // Within 5 s; where that is not enough for a start, what is added to it counts.
  if (elapsedMs >= 5_000) {
    const ownMs = elapsedMs - await bareStartMs();
    assert(ownMs < 5_000, `took ${ownMs} ms`);
  }
  const lines = done.stderr.trim().split("\n");
  assertEquals(lines.length, 1, done.stderr);
  for (const part of parts) assertMatch(lines[0]!, part);
}

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(`${tmpdir()}/pocketmq-test-`);
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a bad number names the key and the value", () =>
  inFolder(async (folder) => {
    await refused(
      [
        "standalone",
        "--store",
        folder,
        "--set",
        "listenPort=ten",
        ...FREE.slice(2),
      ],
      /listenPort/,
      /ten/,
    );
    await refused(
      [
        "standalone",
        "--store",
        folder,
        ...FREE,
        "--set",
        "fileReservedTime=-3",
      ],
      /fileReservedTime/,
      /-3/,
    );
    writeFileSync(`${folder}/broker.conf`, "# x\nmaxMessageSize = 4MBB\n");
    await refused(
      ["broker", "-c", `${folder}/broker.conf`],
      /maxMessageSize/,
      /4MBB/,
      /broker\.conf:2/,
    );
  }));

test("a missing file, an unknown command and an unknown option are usage errors", async () => {
  await refused(["broker", "-c", "no-such.conf"], /no-such\.conf/);
  assertEquals((await runPocketMQ(["brocker"])).code, 2);
  assertEquals((await runPocketMQ(["broker", "--colour"])).code, 2);
});

test("a port in use is named", () =>
  inFolder(async (folder) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const port = String((other.address() as { port: number }).port);
    try {
      await refused(
        [
          "standalone",
          "--store",
          folder,
          "--listen-port",
          "0",
          "--namesrv-port",
          port,
          "--admin-port",
          "0",
        ],
        new RegExp(port),
        /in use/,
      );
      await refused(
        [
          "standalone",
          "--store",
          folder,
          "--listen-port",
          port,
          "--namesrv-port",
          "0",
          "--admin-port",
          "0",
        ],
        new RegExp(port),
        /listenPort/,
        /in use/,
      );
    } finally {
      other.close();
    }
  }));

/** Arguments of a broker on one port of loopback. */
function brokerAt(folder: string, port: number, ...settings: string[]) {
  const bind = ["--bind", "127.0.0.1", "--listen-port", String(port)];
  const all = ["brokerName=broker-a", ...settings];
  return [
    "broker",
    ...bind,
    "--admin-port",
    "0",
    "--store",
    folder,
    "-n",
    "127.0.0.1:1",
    ...all.flatMap((it) => ["--set", it]),
  ];
}

test("30: master and slave of one host on neighbouring ports: whoever comes second names the port", () =>
  inFolder((folder) =>
    withProcesses(async (keep) => {
      const slave = [
        "brokerRole=SLAVE",
        "brokerId=1",
        "haMasterAddress=127.0.0.1:1",
      ];
      const first = await keep(startBrokerProcess(`${folder}/1`));
      const ha = first.port("ha");
      await refused(
        brokerAt(`${folder}/2`, ha, ...slave),
        new RegExp(`127.0.0.1:${ha} \\(listenPort\\)`),
        /in use/,
      );
      // The other way round the master's HA port is the slave's.
      const other = await keep(startBrokerProcess(`${folder}/3`, ...slave));
      await refused(
        brokerAt(`${folder}/4`, other.port("broker") - 1),
        /listenPort/,
        /in use/,
      );
    })
  ));

test("an address that cannot be bound is named by its key", () =>
  inFolder(async (folder) => {
    for (
      const args of [
        ["standalone", "--store", folder, ...FREE],
        ["broker", "--store", folder, "-n", "127.0.0.1:1"],
        ["namesrv", "--listen-port", "0"],
      ]
    ) {
      await refused(
        [...args, "--bind", "nosuch.invalid"],
        /nosuch\.invalid/,
        /bindAddress/,
        /cannot be resolved/,
      );
      await refused([...args, "--bind", "foo bar"], /--bind: give an IP/);
    }
  }));

test("a store that another process holds is refused and stays unharmed", () =>
  withSite(async (site) => {
    await site.run("produce", "Hello", "x");
    await refused(
      ["standalone", "--store", site.storePath, ...FREE],
      /storePathRootDir|store/,
      /another/,
    );
    const read = await site.run(
      "consume",
      "Hello",
      "--group",
      "g",
      "--from",
      "first",
      "--count",
      "1",
      "--timeout",
      "20",
    );
    assertEquals([read.code, read.stdout], [0, "x\n"]);
  }));

test("a store path that cannot be written is refused", () =>
  inFolder(async (folder) => {
    writeFileSync(`${folder}/file`, "");
    await refused(
      ["standalone", "--store", `${folder}/file/store`, ...FREE],
      /file\/store/,
    );
    if (process.getuid?.() === 0) return; // Nothing is unwritable to root.
    mkdirSync(`${folder}/locked`);
    chmodSync(`${folder}/locked`, 0o500);
    await refused(
      ["standalone", "--store", `${folder}/locked/store`, ...FREE],
      /locked/,
    );
  }));

test("unknown keys and foreign files are warnings", () =>
  withSite(async (site) => {
    assertMatch(site.server.stderr, /flushDiskTyp/);
    await site.run("produce", "Hello", "x");
    writeFileSync(`${site.storePath}/commitlog/.DS_Store`, "x");
    await eventually(() => existsSync(`${site.storePath}/consumequeue`));
    writeFileSync(`${site.storePath}/consumequeue/notes.txt`, "x");
    await site.restart();
    assertMatch(site.server.stderr, /\.DS_Store/);
    for (const line of site.server.stderr.trim().split("\n")) {
      const { category } = JSON.parse(line) as { category: string };
      assertMatch(category, /^(?:config|broker|namesrv|ports|admin)/, line);
      assert(!/(\w+)\.\1/.test(category), line);
    }
    const read = await site.run(
      "consume",
      "Hello",
      "--group",
      "g",
      "--from",
      "first",
      "--count",
      "1",
      "--timeout",
      "20",
    );
    assertEquals([read.code, read.stdout], [0, "x\n"]);
  }, ["--set", "flushDiskTyp=SYNC_FLUSH"]));
