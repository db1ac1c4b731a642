/** PopStats: records of the revive log and retries, counted since start by group and topic. */
import type { PutMessageStatus } from "../../store/put_message_result.ts";

/** PopReviveMessageType. */
export type ReviveMessageType = "CK" | "ACK";

/** What was counted of one group and topic. */
export interface PopCount {
  readonly group: string;
  readonly topic: string;
  /** Undefined for retries. */
  readonly type: ReviveMessageType | undefined;
  /** Undefined for records that were read. */
  readonly status: PutMessageStatus | undefined;
  /** Of the revive log; undefined for records that were put. */
  readonly queueId: number | undefined;
  count: number;
}

type Subject = Pick<PopCount, "group" | "topic">;

/** Rows that are counted apart: groups and topics come and go. */
const ROWS_MAX = 50_000;

/** Counts for one run of a broker. */
export class PopStats {
  readonly #puts = new Map<string, PopCount>();
  readonly #gets = new Map<string, PopCount>();
  readonly #retries = new Map<string, PopCount>();

  /** A record was put, or was not. */
  onPut(
    { group, topic }: Subject,
    type: ReviveMessageType,
    status: PutMessageStatus,
  ): void {
    add(this.#puts, { group, topic, type, status, queueId: undefined });
  }

  /** A record was read that was there before this run, or is of an Apache broker's timers. */
  onGet(
    { group, topic }: Subject,
    type: ReviveMessageType,
    queueId: number,
  ): void {
    add(this.#gets, { group, topic, type, status: undefined, queueId });
  }

  /** A message went to its retry topic, or did not. */
  onRetry({ group, topic }: Subject, status: PutMessageStatus): void {
    add(this.#retries, {
      group,
      topic,
      type: undefined,
      status,
      queueId: undefined,
    });
  }

  get puts(): readonly PopCount[] {
    return [...this.#puts.values()];
  }

  get gets(): readonly PopCount[] {
    return [...this.#gets.values()];
  }

  get retries(): readonly PopCount[] {
    return [...this.#retries.values()];
  }
}

function add(
  rows: Map<string, PopCount>,
  { group, queueId, status, topic, type }: Omit<PopCount, "count">,
): void {
  const key = `${topic}@${group}@${type}@${status}@${queueId}`;
  const row = rows.get(key);
  if (row !== undefined) row.count++;
  else if (rows.size < ROWS_MAX) {
    rows.set(key, { group, topic, type, status, queueId, count: 1 });
  }
}
