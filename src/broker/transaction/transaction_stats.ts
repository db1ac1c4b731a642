/** TransactionStats: how transactions ended, by topic, as /metrics shows it. */
import { Histogram } from "../../base/histogram.ts";

/** Seconds: 5 s, 1 and 10 min, 1 h, 12 h, a day; those of RocketMQ. */
const BOUNDS_S = Float64Array.of(5, 60, 600, 3_600, 43_200, 86_400);

/** One topic. */
export class TopicTransactions {
  committed = 0;
  rolledBack = 0;
  /** Seconds from a message's birth to its commit. */
  readonly latencyS = new Histogram(BOUNDS_S);

  constructor(readonly topic: string) {}
}

/** All topics. */
export class TransactionStats {
  readonly #topics = new Map<string, TopicTransactions>();

  get topics(): Iterable<TopicTransactions> {
    return this.#topics.values();
  }

  onCommitted(topic: string, elapsedMs: number): void {
    const stats = this.#of(topic);
    stats.committed++;
    stats.latencyS.add(Math.max(0, Math.floor(elapsedMs / 1_000)));
  }

  onRolledBack(topic: string): void {
    this.#of(topic).rolledBack++;
  }

  #of(topic: string): TopicTransactions {
    let stats = this.#topics.get(topic);
    if (stats === undefined) {
      this.#topics.set(topic, stats = new TopicTransactions(topic));
    }
    return stats;
  }
}
