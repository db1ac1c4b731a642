/**
 * TopicRouteInfo: the readable queues of a topic on all brokers, as the name servers tell them.
 * A topic that they do not know, and every topic of a broker without name server, has the queues
 * that it has here.
 */
import type { Clock } from "../../io/clock.ts";
import type { MessageQueue } from "../../model/message_queue.ts";
import { PermName, type TopicConfig } from "../../model/topic_config.ts";
import { decodeTopicRouteData } from "../../protocol/body/topic_route_data.ts";
import { encodeGetRouteInfoRequestHeader } from "../../protocol/header/get_route_info_header.ts";
import { createRequest } from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { OuterClient } from "../broker_outer_api.ts";

/** What it needs. */
export interface TopicRouteInfoPorts {
  readonly client: OuterClient;
  readonly clock: Clock;
  namesrvAddrs(): readonly string[];
  readonly brokerName: string;
  readonly topics: {
    selectTopicConfig(topic: string): TopicConfig | undefined;
  };
}

/** How long a route counts; clients ask every 20 s. */
const ROUTE_KEPT_MS = 5_000;
const NAMESRV_TIMEOUT_MS = 3_000;
const ROUTES_MAX = 10_000;

interface Route {
  readonly queues: readonly MessageQueue[] | null;
  readonly askedMs: number;
}

/** Remembers routes for a few seconds. */
export class TopicRouteInfo {
  readonly #ports: TopicRouteInfoPorts;
  readonly #routes = new Map<string, Route>();
  readonly #asking = new Map<string, Promise<readonly MessageQueue[] | null>>();

  constructor(ports: TopicRouteInfoPorts) {
    this.#ports = ports;
  }

  /** Null for a topic that is nowhere. Never rejects. */
  async queuesOf(topic: string): Promise<readonly MessageQueue[] | null> {
    const known = this.#routes.get(topic);
    const nowMs = this.#ports.clock.monotonicMs();
    if (known !== undefined && nowMs - known.askedMs < ROUTE_KEPT_MS) {
      return known.queues;
    }
    let asking = this.#asking.get(topic);
    if (asking === undefined) {
      asking = this.#ask(topic, known?.queues ?? null);
      this.#asking.set(topic, asking);
      void asking.finally(() => this.#asking.delete(topic));
    }
    return await asking;
  }

  async #ask(
    topic: string,
    known: readonly MessageQueue[] | null,
  ): Promise<readonly MessageQueue[] | null> {
    const told = await this.#fromNamesrv(topic);
    const queues = told ?? known ?? this.#own(topic);
    this.#routes.delete(topic);
    this.#routes.set(topic, {
      queues,
      askedMs: this.#ports.clock.monotonicMs(),
    });
    for (const oldest of this.#routes.keys()) {
      if (this.#routes.size <= ROUTES_MAX) break;
      this.#routes.delete(oldest);
    }
    return queues;
  }

  /** Null when none of them knows the topic, or none answers. */
  async #fromNamesrv(topic: string): Promise<MessageQueue[] | null> {
    for (const address of this.#ports.namesrvAddrs()) {
      try {
        const answer = await this.#ports.client.invoke(
          address,
          createRequest(
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            encodeGetRouteInfoRequestHeader(topic),
          ),
          NAMESRV_TIMEOUT_MS,
        );
        if (answer.code !== ResponseCode.SUCCESS) continue;
        const { queueDatas } = decodeTopicRouteData(answer.body);
        return queueDatas
          .filter(({ perm }) => (perm & PermName.READ) !== 0)
          .flatMap(({ brokerName, readQueueNums }) =>
            queuesFrom(topic, brokerName, readQueueNums)
          );
      } catch {
        // The next one may answer; without any the last known route counts.
      }
    }
    return null;
  }

  #own(topic: string): readonly MessageQueue[] | null {
    const config = this.#ports.topics.selectTopicConfig(topic);
    if (config === undefined || (config.perm & PermName.READ) === 0) {
      return null;
    }
    return queuesFrom(topic, this.#ports.brokerName, config.readQueueNums);
  }
}

function queuesFrom(
  topic: string,
  brokerName: string,
  readQueueNums: number,
): MessageQueue[] {
  return Array.from(
    { length: readQueueNums },
    (_, queueId) => ({ topic, brokerName, queueId }),
  );
}
