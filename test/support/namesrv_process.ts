/** One `pocketmq namesrv` process on a loopback port, and what it says of a topic. */
import { decodeTopicRouteData } from "../../src/protocol/body/topic_route_data.ts";
import type { TopicRouteData } from "../../src/protocol/body/topic_route_data.ts";
import { eventually } from "./eventually.ts";
import { PocketMQProcess } from "./pocketmq_process.ts";
import { RawClient } from "./raw_client.ts";

/** Starts it; its files go into `folder`. */
export function startNamesrvProcess(
  folder: string,
  port = 0,
): Promise<PocketMQProcess> {
  return PocketMQProcess.start([
    "namesrv",
    "--namesrv-port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--set",
    `kvConfigPath=${folder}/kvConfig.json`,
  ]);
}

/** The route of a topic (105), or the code of the answer. */
export async function routeOf(
  client: RawClient,
  topic: string,
): Promise<TopicRouteData | number> {
  const answer = await client.invoke(105, { topic });
  return answer.code === 0 ? decodeTopicRouteData(answer.body) : answer.code;
}

/** From the first answer of a name server to its first route; the codes until then. */
export async function msUntilRoute(
  address: string,
  topic: string,
): Promise<{ ms: number; codes: Set<number> }> {
  const client = await RawClient.open(address);
  const codes = new Set<number>();
  const startedMs = performance.now();
  await eventually(async () => {
    const route = await routeOf(client, topic);
    if (typeof route === "number") codes.add(route);
    return typeof route !== "number";
  }, { timeoutMs: 60_000 });
  client.close();
  return { ms: performance.now() - startedMs, codes };
}

/** Asks on every `intervalMs` until stopped; keeps each answer that was no route. */
export class RouteWatch {
  readonly #client: RawClient;
  readonly #running: Promise<void>;
  #isStopped = false;
  asked = 0;
  /** Code and remark of each answer without a route. */
  readonly missing: string[] = [];

  private constructor(client: RawClient, topic: string, intervalMs: number) {
    this.#client = client;
    this.#running = this.#run(topic, intervalMs);
  }

  static async start(
    address: string,
    topic: string,
    intervalMs = 10,
  ): Promise<RouteWatch> {
    return new RouteWatch(await RawClient.open(address), topic, intervalMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    this.#client.close();
  }

  async #run(topic: string, intervalMs: number): Promise<void> {
    while (!this.#isStopped) {
      const answer = await this.#client.invoke(105, { topic });
      this.asked++;
      if (answer.code !== 0) {
        this.missing.push(`${this.asked}: ${answer.code} ${answer.remark}`);
      }
      await new Promise((resolve) => setTimeout(resolve, intervalMs));
    }
  }
}
