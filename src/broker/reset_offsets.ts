/**
 * ResetOffsets: positions that an administrator set and that the readers do not know yet.
 *
 * The next pull of a queue is answered with PULL_OFFSET_MOVED (21) and the new position; until
 * then the reader's own commits, which speak of the old one, count for nothing (5.x,
 * useServerSideResetOffset).
 */
import type { GetMessageResult } from "../store/get_message_result.ts";

const NO_BODY = new Uint8Array(0);

/** Where a reader of one queue has to go on. */
export interface ResetOffset {
  readonly offset: number;
  readonly minOffset: number;
  readonly maxOffset: number;
}

/** Kept in memory: the position itself is in the table of consumer offsets. */
export class ResetOffsets {
  readonly #pending = new Map<string, ResetOffset>();

  add(
    group: string,
    topic: string,
    queueId: number,
    reset: ResetOffset,
  ): void {
    this.#pending.set(keyOf(group, topic, queueId), reset);
  }

  /** True while the reader has not been told. */
  has(group: string, topic: string, queueId: number): boolean {
    return this.#pending.size > 0 &&
      this.#pending.has(keyOf(group, topic, queueId));
  }

  /** What the reader is told now; only once. */
  take(
    group: string,
    topic: string,
    queueId: number,
  ): ResetOffset | undefined {
    if (this.#pending.size === 0) return undefined;
    const key = keyOf(group, topic, queueId);
    const reset = this.#pending.get(key);
    if (reset !== undefined) this.#pending.delete(key);
    return reset;
  }

  onTopicDeleted(deleted: string): void {
    for (const key of this.#pending.keys()) {
      if (key.split("@")[1] === deleted) this.#pending.delete(key);
    }
  }

  onGroupDeleted(deleted: string): void {
    for (const key of this.#pending.keys()) {
      if (key.split("@")[0] === deleted) this.#pending.delete(key);
    }
  }
}

/** Neither names of groups nor of topics hold an @. */
function keyOf(group: string, topic: string, queueId: number): string {
  return `${group}@${topic}@${queueId}`;
}

/** The reader learns its new position, and pulls again from there. */
export function movedTo(
  { offset, minOffset, maxOffset }: ResetOffset,
): GetMessageResult {
  return {
    status: "OFFSET_RESET",
    nextBeginOffset: offset,
    minOffset,
    maxOffset,
    body: NO_BODY,
    messageCount: 0,
    release() {},
    suggestPullingFromSlave: false,
  };
}
