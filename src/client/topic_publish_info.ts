/** TopicPublishInfo: the queues of a topic in turn, apart from brokers that just failed. */
import type { MessageQueue } from "../model/message_queue.ts";
import type { TopicRouteData } from "../protocol/body/topic_route_data.ts";
import { publishQueues } from "./route_queues.ts";

/** The queues of one route. */
export class TopicPublishInfo {
  readonly route: TopicRouteData;
  readonly queues: readonly MessageQueue[];
  #next: number;

  /** `start` is where the turn begins. */
  constructor(topic: string, route: TopicRouteData, start: number) {
    this.route = route;
    this.queues = publishQueues(topic, route);
    this.#next = start;
  }

  /** The next queue of a broker that is not `avoided`; of any broker when all are. */
  selectOneMessageQueue(
    avoided: ReadonlySet<string>,
  ): MessageQueue | undefined {
    const { queues } = this;
    for (let tried = 0; tried < queues.length; tried++) {
      const queue = queues[this.#next++ % queues.length]!;
      if (!avoided.has(queue.brokerName)) return queue;
    }
    return queues[this.#next++ % Math.max(1, queues.length)];
  }

  /** Goes on where an older route stopped. */
  get next(): number {
    return this.#next;
  }
}
