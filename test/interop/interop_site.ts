/** What several servers of one interop test share: a folder, a name server, and an end. */
import { assertEquals } from "@std/assert";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  type Finished,
  PocketMQProcess,
  runPocketMQ,
} from "../support/pocketmq_process.ts";

/** Apache's 5.x broker registers for the first time 10 s after its start. */
const ROUTE_TIMEOUT_MS = 30_000;
const POLL_MS = 200;

/** A server that a test started. */
interface Stoppable {
  stop(signal?: NodeJS.Signals): Promise<unknown>;
}

/** One test's servers. */
export class InteropSite {
  readonly folder: string;
  readonly #starting: Promise<Stoppable>[] = [];

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Takes charge of a server's end. */
  async own<T extends Stoppable>(starting: Promise<T>): Promise<T> {
    this.#starting.push(starting);
    return await starting;
  }

  /** Ends what still runs, at once: nothing of the test's is kept. */
  async close(): Promise<void> {
    // Also what still starts, when the start of another one has failed.
    const starts = await Promise.allSettled(this.#starting);
    await Promise.all(
      starts.map((it) =>
        it.status === "fulfilled" ? it.value.stop("SIGKILL") : undefined
      ),
    );
  }

  /** Runs a tool of ours that must succeed. */
  async run(namesrv: string, ...args: string[]): Promise<Finished> {
    const done = await runPocketMQ([...args, "-n", namesrv]);
    assertEquals(done.code, 0, `${args.join(" ")}: ${done.stderr}`);
    return done;
  }

  /** Waits until the name server knows broker `address`. */
  registered(namesrv: string, address: string): Promise<void> {
    return this.eventually(async () => {
      const list = await runPocketMQ(["cluster", "list", "-n", namesrv]);
      return list.stdout.includes(address);
    }, `${address} at name server ${namesrv}`);
  }

  /** Creates a topic and waits until clients can find it. */
  async createTopic(
    namesrv: string,
    topic: string,
    ...args: string[]
  ): Promise<void> {
    await this.run(namesrv, "topic", "create", topic, ...args);
    await this.eventually(async () => {
      const route = await runPocketMQ(["topic", "route", topic, "-n", namesrv]);
      return route.code === 0;
    }, `a route of ${topic}`);
  }

  /** Waits for a condition that costs a process or a file to look at. */
  async eventually(
    condition: () => boolean | Promise<boolean>,
    what: string,
    timeoutMs = ROUTE_TIMEOUT_MS,
  ): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!await condition()) {
      if (Date.now() > deadline) {
        throw new Error(`Not within ${timeoutMs} ms: ${what}`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** Opens a site, runs, and leaves nothing behind. */
export async function withInteropSite(
  run: (site: InteropSite) => Promise<void>,
): Promise<void> {
  await withTempDirectory(async (folder) => {
    const site = new InteropSite(folder);
    try {
      await run(site);
    } finally {
      await site.close();
    }
  });
}

/** A name server of ours; returns its address. */
export async function startNamesrv(site: InteropSite): Promise<string> {
  const server = await site.own(
    PocketMQProcess.start([
      "namesrv",
      "--namesrv-port",
      "0",
      "--bind",
      "127.0.0.1",
      "--set",
      `kvConfigPath=${site.folder}/kvConfig.json`,
    ]),
  );
  return server.address("namesrv");
}
