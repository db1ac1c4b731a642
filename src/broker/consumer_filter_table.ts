/**
 * ConsumerFilterTable: the selectors of groups by topic, within limits.
 *
 * Invariants
 * - At the limits entries that are dead go, first those that died first; living ones stay.
 */
import type { ConsumerFilterData } from "./consumer_filter_data.ts";
import { isDead } from "./consumer_filter_data.ts";

/** Entries. */
const ENTRIES_MAX = 10_000;
/** UTF-16 units of all expressions: their trees take some twenty times as much. */
const LENGTH_MAX = 2_097_152;

/** The entries. */
export class ConsumerFilterTable {
  readonly #byGroup = new Map<string, Map<string, ConsumerFilterData>>();
  #entryCount = 0;
  #length = 0;

  get(topic: string, group: string): ConsumerFilterData | undefined {
    return this.#byGroup.get(group)?.get(topic);
  }

  /** A copy: what it gives may be put and removed. */
  ofGroup(group: string): ConsumerFilterData[] {
    return [...this.#byGroup.get(group)?.values() ?? []];
  }

  /** A copy, as `ofGroup`. */
  all(): ConsumerFilterData[] {
    return [...this.#byGroup.values()].flatMap((it) => [...it.values()]);
  }

  put(data: ConsumerFilterData): void {
    const { topic, consumerGroup } = data;
    let topics = this.#byGroup.get(consumerGroup);
    if (topics === undefined) {
      this.#byGroup.set(consumerGroup, topics = new Map());
    }
    const old = topics.get(topic);
    if (old === undefined) this.#entryCount++;
    this.#length += data.expression.length - (old?.expression.length ?? 0);
    topics.set(topic, data);
  }

  remove({ topic, consumerGroup }: ConsumerFilterData): void {
    const topics = this.#byGroup.get(consumerGroup);
    const old = topics?.get(topic);
    if (topics === undefined || old === undefined) return;
    topics.delete(topic);
    this.#entryCount--;
    this.#length -= old.expression.length;
    if (topics.size === 0) this.#byGroup.delete(consumerGroup);
  }

  /** Undefined once `expression` may be put there, or why it may not. */
  makeRoom(
    topic: string,
    group: string,
    expression: string,
  ): string | undefined {
    const isFull = () => {
      const old = this.get(topic, group);
      const growth = expression.length - (old?.expression.length ?? 0);
      return this.#length + growth > LENGTH_MAX ||
        (old === undefined && this.#entryCount >= ENTRIES_MAX);
    };
    if (!isFull()) return undefined;
    const dead = this.all().filter(isDead)
      .sort((a, b) => a.deadTime - b.deadTime);
    for (const data of dead) {
      this.remove(data);
      if (!isFull()) return undefined;
    }
    return `${this.#entryCount} filters of ${this.#length} characters are ` +
      `registered, at most ${ENTRIES_MAX} of ${LENGTH_MAX} are kept`;
  }
}
