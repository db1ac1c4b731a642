/**
 * QueueAllocation: how the queues of a topic are shared among a group's clients; pure. Apache's
 * AllocateMessageQueueAveragely, -AveragelyByCircle and QueryAssignmentProcessor.allocate4Pop.
 */
import type { MessageQueue } from "../../model/message_queue.ts";

/** Shares `queues` among `clientIds`, both sorted; what `clientId` gets. */
export type AllocateMessageQueueStrategy = (
  clientId: string,
  queues: readonly MessageQueue[],
  clientIds: readonly string[],
) => MessageQueue[];

/** Neighbouring queues for each; the first ones get one more where it does not come out even. */
function allocateAveragely(
  clientId: string,
  queues: readonly MessageQueue[],
  clientIds: readonly string[],
): MessageQueue[] {
  const index = clientIds.indexOf(clientId);
  if (index < 0) return [];
  const left = queues.length % clientIds.length;
  const share = Math.floor(queues.length / clientIds.length);
  const start = index * share + Math.min(index, left);
  return queues.slice(start, start + share + (index < left ? 1 : 0));
}

/** Every n-th queue. */
function allocateByCircle(
  clientId: string,
  queues: readonly MessageQueue[],
  clientIds: readonly string[],
): MessageQueue[] {
  const index = clientIds.indexOf(clientId);
  return index < 0
    ? []
    : queues.filter((_, at) => at % clientIds.length === index);
}

const STRATEGIES: ReadonlyMap<string, AllocateMessageQueueStrategy> = new Map([
  ["AVG", allocateAveragely],
  ["AVG_BY_CIRCLE", allocateByCircle],
]);

/** The strategy that clients ask for by this name. */
export function allocationStrategy(
  name: string,
): AllocateMessageQueueStrategy | undefined {
  return STRATEGIES.get(name);
}

/**
 * For POP: -1 stands for all queues of a broker. With fewer sharers than clients each one gets its
 * own queues and those of the `popShareQueueNum` clients behind it.
 */
export function allocateForPop(
  strategy: AllocateMessageQueueStrategy,
  clientId: string,
  queues: readonly MessageQueue[],
  clientIds: readonly string[],
  popShareQueueNum: number,
): MessageQueue[] {
  if (popShareQueueNum <= 0 || popShareQueueNum >= clientIds.length - 1) {
    return distinct(queues.map((it) => ({ ...it, queueId: -1 })));
  }
  const index = clientIds.indexOf(clientId);
  if (index < 0) return [];
  if (clientIds.length > queues.length) return [queues[index % queues.length]!];
  const all: MessageQueue[] = [];
  for (let sharer = 0; sharer <= popShareQueueNum; sharer++) {
    const other = clientIds[(index + sharer) % clientIds.length]!;
    all.push(...strategy(other, queues, clientIds));
  }
  return distinct(all);
}

function distinct(queues: readonly MessageQueue[]): MessageQueue[] {
  const byKey = new Map(
    queues.map((it) => [JSON.stringify([it.brokerName, it.queueId]), it]),
  );
  return [...byKey.values()];
}
