/** PullOffsetTable: where the members of groups pull, in memory only. */
export class PullOffsetTable {
  /** By group, then topic, then queueId. */
  readonly #groups = new Map<string, Map<string, Map<number, number>>>();

  set(group: string, topic: string, queueId: number, offset: number): void {
    let topics = this.#groups.get(group);
    if (topics === undefined) this.#groups.set(group, topics = new Map());
    let queues = topics.get(topic);
    if (queues === undefined) topics.set(topic, queues = new Map());
    queues.set(queueId, offset);
  }

  /** -1 where nobody pulled. */
  get(group: string, topic: string, queueId: number): number {
    return this.#groups.get(group)?.get(topic)?.get(queueId) ?? -1;
  }

  deleteGroup(group: string): void {
    this.#groups.delete(group);
  }

  deleteTopic(topic: string): void {
    for (const [group, topics] of this.#groups) {
      if (topics.delete(topic) && topics.size === 0) this.#groups.delete(group);
    }
  }
}
