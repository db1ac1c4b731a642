/** QueueOffsetTable: the next queue offset of every queue (reference 5.1, step 6). */
export class QueueOffsetTable {
  readonly #byTopic = new Map<string, Map<number, number>>();

  /** The offset that the next record of the queue gets. */
  next(topic: string, queueId: number): number {
    return this.#byTopic.get(topic)?.get(queueId) ?? 0;
  }

  /** Sets it. */
  set(topic: string, queueId: number, nextOffset: number): void {
    let queues = this.#byTopic.get(topic);
    if (queues === undefined) {
      queues = new Map();
      this.#byTopic.set(topic, queues);
    }
    queues.set(queueId, nextOffset);
  }

  /** Sets it unless it is higher already. */
  raise(topic: string, queueId: number, nextOffset: number): void {
    if (nextOffset > this.next(topic, queueId)) {
      this.set(topic, queueId, nextOffset);
    }
  }

  hasTopic(topic: string): boolean {
    return this.#byTopic.has(topic);
  }

  deleteTopic(topic: string): void {
    this.#byTopic.delete(topic);
  }

  clear(): void {
    this.#byTopic.clear();
  }
}
