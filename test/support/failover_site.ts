/** A pair of ours that fails over: a master that is lost and comes back, a slave that is promoted. */
import { readFileSync } from "node:fs";
import { eventually } from "./eventually.ts";
import {
  type Finished,
  PocketMQProcess,
  runPocketMQ,
} from "./pocketmq_process.ts";
import { RawClient } from "./raw_client.ts";

const BODY = new Uint8Array(100);

/** One broker of the pair, started as often as the test likes, always with the same options. */
export class FailoverBroker {
  process: PocketMQProcess | null = null;
  readonly folder: string;
  readonly #settings: readonly string[];
  #listenPort = 0;

  constructor(folder: string, namesrv: string, settings: readonly string[]) {
    this.folder = folder;
    this.#settings = [
      "brokerName=broker-a",
      `namesrvAddr=${namesrv}`,
      "mappedFileSizeCommitLog=1M",
      "maxMessageSize=64K",
      ...settings,
    ];
  }

  /** Starts it; on the port it had before, if it had one. */
  async start(): Promise<void> {
    this.process = await PocketMQProcess.start([
      "broker",
      "--bind",
      "127.0.0.1",
      "--listen-port",
      String(this.#listenPort),
      "--admin-port",
      "0",
      "--store",
      this.folder,
      ...this.#settings.flatMap((it) => ["--set", it]),
    ]);
    this.#listenPort = this.process.port("broker");
  }

  get address(): string {
    return `127.0.0.1:${this.#listenPort}`;
  }

  get haAddress(): string {
    return `127.0.0.1:${this.#listenPort + 1}`;
  }

  /** `GET /admin/ha`. */
  async ha(): Promise<Record<string, unknown>> {
    const admin = this.process!.address("admin");
    return await (await fetch(`http://${admin}/admin/ha`)).json();
  }

  /** A lost node: killed, and of no use to anybody. */
  async kill(): Promise<void> {
    await this.process?.stop("SIGKILL");
    this.process = null;
  }

  /** `pocketmq ha promote`. */
  promote(...flags: string[]): Promise<Finished> {
    const admin = `http://${this.process!.address("admin")}`;
    return runPocketMQ(["ha", "promote", "--admin", admin, ...flags]);
  }

  /** Sends one after the other; how many were acknowledged, and the codes of the others. */
  async send(count: number): Promise<{ ok: number; refused: number[] }> {
    const client = await RawClient.open(this.address);
    try {
      return await sendAll(client, count);
    } finally {
      client.close();
    }
  }

  /** Messages in queue 0 of the test's topic. */
  async messageCount(): Promise<number> {
    const client = await RawClient.open(this.address);
    const answer = await client.invoke(30, { topic: "T", queueId: "0" });
    client.close();
    return Number(answer.extFields.offset);
  }
}

/** Sends `count` messages over one connection. */
export async function sendAll(
  client: RawClient,
  count: number,
): Promise<{ ok: number; refused: number[] }> {
  const refused: number[] = [];
  let ok = 0;
  const sends = Array.from({ length: count }, async () => {
    const { code } = await client.send("T", 0, BODY);
    if (code === 0) ok++;
    else refused.push(code);
  });
  await Promise.all(sends);
  return { ok, refused };
}

/** Sends to an address from before its broker is up, until `isOver`; what was acknowledged. */
export async function hammer(
  address: string,
  isOver: () => boolean,
): Promise<{ ok: number; refused: number }> {
  const total = { ok: 0, refused: 0 };
  while (!isOver()) {
    try {
      const client = await RawClient.open(address);
      const { ok, refused } = await sendAll(client, 10);
      client.close();
      total.ok += ok;
      total.refused += refused.length;
    } catch {
      // Nobody listens yet, or the connection was reset.
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return total;
}

/** Addresses by id of broker-a, as `cluster list` shows them. */
export async function brokersAt(namesrv: string): Promise<string> {
  const list = await runPocketMQ(["cluster", "list", "-n", namesrv, "--json"]);
  return list.stdout;
}

/** True once `by` has written down where `peer` lives. */
export function isRemembered(
  by: FailoverBroker,
  peer: FailoverBroker,
): boolean {
  try {
    return readFileSync(`${by.folder}/config/haPeers.json`, "utf8")
      .includes(peer.address);
  } catch {
    return false;
  }
}

/** Waits until the slave has everything. */
export async function inSync(master: FailoverBroker): Promise<void> {
  await eventually(async () => {
    const { haConnectionInfo, inSyncSlaveNums } = await master.ha();
    const [slave] = haConnectionInfo as { diff: number | null }[];
    return inSyncSlaveNums === 1 && slave?.diff === 0;
  }, { timeoutMs: 15_000 });
}

/** A name server of ours while `run` runs; `folder` takes its files. */
export async function withNamesrv(
  folder: string,
  run: (namesrv: string) => Promise<void>,
): Promise<void> {
  const server = await PocketMQProcess.start([
    "namesrv",
    "--namesrv-port",
    "0",
    "--bind",
    "127.0.0.1",
    "--set",
    `kvConfigPath=${folder}/kvConfig.json`,
  ]);
  try {
    await run(server.address("namesrv"));
  } finally {
    await server.stop();
  }
}

/** POST /admin/ha/role: the HTTP status, and the body. */
export async function changeRole(
  broker: FailoverBroker,
  change: Record<string, unknown>,
): Promise<{ status: number; detail: string }> {
  const admin = broker.process!.address("admin");
  const answer = await fetch(`http://${admin}/admin/ha/role`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(change),
  });
  const { detail } = await answer.json();
  return { status: answer.status, detail };
}
