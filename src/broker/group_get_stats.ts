/** GroupGetStats: everything that is counted of what one group does with one topic. */
import { StatsItem } from "./stats_item.ts";

/** One group on one topic. */
export class GroupGetStats {
  /** What pulls handed out. */
  get: StatsItem | undefined;
  /** Messages that its consumers gave up. */
  sendBack: StatsItem | undefined;
  /** Those of them that became dead letters. */
  deadLetters: StatsItem | undefined;
  /** Messages on their way to dead letters, as rocketmq_send_to_dlq_messages_total counts. */
  toDlq = 0;
  /** Milliseconds that pulls took, by queue. */
  readonly latencies: StatsItem[] = [];

  constructor(readonly topic: string, readonly group: string) {}

  *items(): Iterable<StatsItem> {
    if (this.get !== undefined) yield this.get;
    if (this.sendBack !== undefined) yield this.sendBack;
    if (this.deadLetters !== undefined) yield this.deadLetters;
    for (const it of this.latencies) if (it !== undefined) yield it;
  }
}
