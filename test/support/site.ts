/** One standalone server of the program under test with a folder of its own. */
import { assertEquals } from "@std/assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { PocketMQProcess, runPocketMQ } from "./pocketmq_process.ts";

const ANY_PORTS = { namesrv: 0, broker: 0, admin: 0 };

/** A server, where it is, and what is done with it. */
export class Site {
  readonly folder: string;
  readonly #args: string[];
  server!: PocketMQProcess;

  private constructor(folder: string, args: string[]) {
    this.folder = folder;
    this.#args = args;
  }

  static async open(args: string[] = []): Promise<Site> {
    const site = new Site(mkdtempSync(`${tmpdir()}/pocketmq-test-`), args);
    await site.#start(ANY_PORTS);
    return site;
  }

  get storePath(): string {
    return `${this.folder}/store`;
  }

  get namesrv(): string {
    return this.server.address("namesrv");
  }

  get broker(): string {
    return this.server.address("broker");
  }

  get admin(): string {
    return `http://${this.server.address("admin")}`;
  }

  async createTopic(topic: string): Promise<void> {
    const made = await this.run("topic", "create", topic);
    assertEquals(made.code, 0, made.stderr);
  }

  /** Runs a tool against this site's name server. */
  run(...args: string[]): ReturnType<typeof runPocketMQ> {
    return runPocketMQ([...args, "-n", this.namesrv]);
  }

  /** Stops (or kills) the server and starts it on the same ports. */
  async restart(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const ports = {
      namesrv: this.server.port("namesrv"),
      broker: this.server.port("broker"),
      admin: this.server.port("admin"),
    };
    await this.server.stop(signal);
    await this.#start(ports);
  }

  async close(): Promise<void> {
    await this.server.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #start(ports: typeof ANY_PORTS): Promise<void> {
    this.server = await PocketMQProcess.start([
      "standalone",
      "--store",
      this.storePath,
      "--namesrv-port",
      String(ports.namesrv),
      "--listen-port",
      String(ports.broker),
      "--admin-port",
      String(ports.admin),
      ...this.#args,
    ]);
  }
}

/** Opens a site, runs, and leaves nothing behind. */
export async function withSite(
  run: (site: Site) => Promise<void>,
  args: string[] = [],
): Promise<void> {
  const site = await Site.open(args);
  try {
    await run(site);
  } finally {
    await site.close();
  }
}
