/** The queues that a route offers to producers and to consumers (reference 10.4, 16.3). */
import type { MessageQueue } from "../model/message_queue.ts";
import { PermName } from "../model/topic_config.ts";
import type {
  BrokerData,
  QueueData,
  TopicRouteData,
} from "../protocol/body/topic_route_data.ts";

/** The id of a master. */
export const MASTER_ID = 0;

/** Queues that may be written: of broker names with a living master. */
export function publishQueues(
  topic: string,
  route: TopicRouteData,
): MessageQueue[] {
  const orderTopicConf = route.orderTopicConf ?? "";
  if (orderTopicConf !== "") return orderedQueues(topic, orderTopicConf);
  const withMaster = new Set(
    route.brokerDatas.filter((it) => it.brokerAddrs.has(MASTER_ID)).map((it) =>
      it.brokerName
    ),
  );
  return sorted(route.queueDatas)
    .filter((it) =>
      (it.perm & PermName.WRITE) !== 0 && withMaster.has(it.brokerName)
    )
    .flatMap((it) => queuesOf(topic, it.brokerName, it.writeQueueNums));
}

/** Queues that may be read. */
export function subscribeQueues(
  topic: string,
  route: TopicRouteData,
): MessageQueue[] {
  return sorted(route.queueDatas)
    .filter((it) => (it.perm & PermName.READ) !== 0)
    .flatMap((it) => queuesOf(topic, it.brokerName, it.readQueueNums));
}

/**
 * The route of a topic that is not there yet: the template's brokers, with at
 * most `queueNums` queues each. None where the template does not inherit.
 */
export function routeOfTemplate(
  template: TopicRouteData,
  queueNums: number,
): TopicRouteData {
  return {
    ...template,
    orderTopicConf: null,
    queueDatas: template.queueDatas
      .filter((it) => (it.perm & PermName.INHERIT) !== 0)
      .map((it) => ({
        ...it,
        readQueueNums: Math.min(queueNums, it.readQueueNums),
        writeQueueNums: Math.min(queueNums, it.readQueueNums),
      })),
  };
}

/** The brokers of a name. */
export function brokerDataOf(
  route: TopicRouteData | undefined,
  brokerName: string,
): BrokerData | undefined {
  return route?.brokerDatas.find((it) => it.brokerName === brokerName);
}

/** The addresses of all brokers of a route, or of its masters. */
export function brokerAddresses(
  route: TopicRouteData,
  which: "all" | "masters",
): string[] {
  return route.brokerDatas.flatMap((it) =>
    [...it.brokerAddrs].filter(([id]) => which === "all" || id === MASTER_ID)
      .map(([, address]) => address)
  );
}

/** Orders as Java does: by topic, broker name, queue id. */
export function compareQueues(a: MessageQueue, b: MessageQueue): number {
  if (a.topic !== b.topic) return a.topic < b.topic ? -1 : 1;
  if (a.brokerName !== b.brokerName) {
    return a.brokerName < b.brokerName ? -1 : 1;
  }
  return a.queueId - b.queueId;
}

/** A key for tables; no name may hold a blank. */
export function queueKey(queue: MessageQueue): string {
  return `${queue.topic} ${queue.brokerName} ${queue.queueId}`;
}

/** Reads `broker-a:4;broker-b:4`. */
function orderedQueues(topic: string, orderTopicConf: string): MessageQueue[] {
  return orderTopicConf.split(";").flatMap((part) => {
    const [brokerName, count] = part.split(":");
    const queueNums = Number(count);
    return brokerName && Number.isInteger(queueNums)
      ? queuesOf(topic, brokerName.trim(), queueNums)
      : [];
  });
}

function sorted(queueDatas: readonly QueueData[]): QueueData[] {
  return [...queueDatas].sort((a, b) => a.brokerName < b.brokerName ? -1 : 1);
}

function queuesOf(
  topic: string,
  brokerName: string,
  count: number,
): MessageQueue[] {
  return Array.from(
    { length: Math.max(0, count) },
    (_, queueId) => ({ topic, brokerName, queueId }),
  );
}
