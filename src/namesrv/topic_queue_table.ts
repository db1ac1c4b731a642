/**
 * TopicQueueTable: queues by topic and broker name, with the way back.
 *
 * Invariants
 * - A topic without queues is not in the table.
 * - Whatever concerns one broker costs as much as that broker has topics.
 */
import { PermName } from "../model/topic_config.ts";
import type { QueueData } from "../protocol/body/topic_route_data.ts";

/** Bits of a topic's sysFlag. */
const FLAG_UNIT = 1;
const FLAG_UNIT_SUB = 2;

/** Which topics of a unitised site are asked for (codes 311, 312, 313). */
export type UnitTopics = "unit" | "unit-sub" | "unit-sub-ununit";

/** Queues by topic. */
export class TopicQueueTable {
  readonly #queuesByTopic = new Map<string, Map<string, QueueData>>();
  readonly #topicsByBroker = new Map<string, Set<string>>();

  get topicCount(): number {
    return this.#queuesByTopic.size;
  }

  topics(): string[] {
    return [...this.#queuesByTopic.keys()];
  }

  /** Queues by broker name. */
  queuesOf(topic: string): ReadonlyMap<string, QueueData> | undefined {
    return this.#queuesByTopic.get(topic);
  }

  topicsOfBroker(brokerName: string): ReadonlySet<string> {
    return this.#topicsByBroker.get(brokerName) ?? new Set();
  }

  has(topic: string, brokerName: string): boolean {
    return this.#queuesByTopic.get(topic)?.has(brokerName) ?? false;
  }

  set(topic: string, queues: QueueData): void {
    const byBroker = this.#queuesByTopic.get(topic);
    if (byBroker === undefined) {
      this.#queuesByTopic.set(topic, new Map([[queues.brokerName, queues]]));
    } else byBroker.set(queues.brokerName, queues);
    const topics = this.#topicsByBroker.get(queues.brokerName);
    if (topics === undefined) {
      this.#topicsByBroker.set(queues.brokerName, new Set([topic]));
    } else topics.add(topic);
  }

  delete(topic: string, brokerName: string): void {
    const byBroker = this.#queuesByTopic.get(topic);
    if (byBroker === undefined || !byBroker.delete(brokerName)) return;
    if (byBroker.size === 0) this.#queuesByTopic.delete(topic);
    const topics = this.#topicsByBroker.get(brokerName)!;
    topics.delete(topic);
    if (topics.size === 0) this.#topicsByBroker.delete(brokerName);
  }

  deleteBroker(brokerName: string): void {
    for (const topic of [...this.topicsOfBroker(brokerName)]) {
      this.delete(topic, brokerName);
    }
  }

  /** Changes the permission of all queues of a broker name; returns how many topics it has. */
  changePerm(brokerName: string, change: (perm: number) => number): number {
    const topics = this.topicsOfBroker(brokerName);
    for (const topic of topics) {
      const byBroker = this.#queuesByTopic.get(topic)!;
      const queues = byBroker.get(brokerName)!;
      const perm = change(queues.perm);
      if (perm !== queues.perm) byBroker.set(brokerName, { ...queues, perm });
    }
    return topics.size;
  }

  /** Removes the write bit of all queues of a broker name. */
  wipeWritePerm(brokerName: string): number {
    return this.changePerm(brokerName, (it) => it & ~PermName.WRITE);
  }

  /** Topics by the unit flags of their first queues. */
  unitTopics(kind: UnitTopics): string[] {
    const topics: string[] = [];
    for (const [topic, byBroker] of this.#queuesByTopic) {
      const [first] = byBroker.values();
      if (isOfKind(first!.topicSysFlag, kind)) topics.push(topic);
    }
    return topics;
  }
}

function isOfKind(topicSysFlag: number, kind: UnitTopics): boolean {
  const isUnit = (topicSysFlag & FLAG_UNIT) !== 0;
  const isUnitSub = (topicSysFlag & FLAG_UNIT_SUB) !== 0;
  if (kind === "unit") return isUnit;
  return kind === "unit-sub" ? isUnitSub : isUnitSub && !isUnit;
}
