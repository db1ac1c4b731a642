/**
 * PopConsumerTable: which messages are popped and not acknowledged; pure. It is what the records
 * of the revive log say, in their order.
 *
 * Invariants
 * - A check point ends by acknowledgements alone: its messages', or those that reviving writes.
 * - What was read of a queue of the revive log is not read again: `floor` is the first record
 *   that is still needed.
 * - Nothing grows with what is acknowledged, but for entries of heaps that fall out at the top.
 */
import { MinHeap } from "../../base/min_heap.ts";
import {
  type AckMsg,
  keyOfCheckPoint,
  type PopCheckPoint,
} from "./pop_check_point.ts";

/** A check point that is in the table. */
export interface LiveCheckPoint {
  readonly point: PopCheckPoint;
  readonly reviveQueueId: number;
  /** Of its newest record. */
  reviveOffset: number;
  /** Bit i: offsets[i] is acknowledged. */
  bitMap: number;
  /** Wall clock, milliseconds: when what is not acknowledged is consumed again. */
  readonly dueMs: number;
  isDone: boolean;
}

/** An acknowledgement that came before its check point, as timers of Apache deliver them. */
interface EarlyAck {
  readonly offsets: number[];
  readonly reviveOffset: number;
  readonly expiresMs: number;
}

/** Longer than Apache lets a check point wait for acknowledgements behind it. */
const EARLY_ACK_GRACE_MS = 10_000;
const EARLY_ACKS_MAX = 100_000;

/** What is in flight of one broker. */
export class PopConsumerTable {
  readonly #points = new Map<string, LiveCheckPoint>();
  readonly #early = new Map<string, EarlyAck>();
  readonly #due = new MinHeap<LiveCheckPoint>();
  /** By queue of the revive log, records that are needed. */
  readonly #needed = new Map<
    number,
    MinHeap<{ readonly point: LiveCheckPoint; readonly offset: number }>
  >();
  readonly #liveCounts = new Map<number, number>();
  /** Unacknowledged messages by topic, group and queue. */
  readonly #inFlight = new Map<string, number>();
  #inFlightCount = 0;

  /** Check points with messages in flight. */
  get size(): number {
    return this.#points.size;
  }

  /** Messages in flight. */
  get inFlightCount(): number {
    return this.#inFlightCount;
  }

  /** Check points that have a record in this queue of the revive log. */
  liveCount(reviveQueueId: number): number {
    return this.#liveCounts.get(reviveQueueId) ?? 0;
  }

  /** Messages of a queue that the group has popped and not acknowledged. */
  inFlight(topic: string, group: string, queueId: number): number {
    return this.#inFlight.get(queueKey(topic, group, queueId)) ?? 0;
  }

  /** Messages in flight by topic, group and queue. */
  *inFlightCounts(): Iterable<
    readonly [topic: string, group: string, queueId: number, count: number]
  > {
    for (const [key, count] of this.#inFlight) {
      const [topic, group, queueId] = key.split("@");
      yield [topic!, group!, Number(queueId), count];
    }
  }

  /** True while any message of that check point waits for its acknowledgement. */
  hasCheckPoint(identity: Parameters<typeof keyOfCheckPoint>[0]): boolean {
    return this.#points.has(keyOfCheckPoint(identity));
  }

  /** True while that message waits for its acknowledgement. */
  isInFlight(
    identity: Parameters<typeof keyOfCheckPoint>[0],
    offset: number,
  ): boolean {
    const live = this.#points.get(keyOfCheckPoint(identity));
    const index = live?.point.offsets.indexOf(offset) ?? -1;
    return index >= 0 && (live!.bitMap & (1 << index)) === 0;
  }

  /** A record with tag `ck`; the same check point again takes the place of its older record. */
  onCheckPoint(
    point: PopCheckPoint,
    reviveQueueId: number,
    reviveOffset: number,
    dueMs = point.popTime + point.invisibleTime,
  ): void {
    const key = keyOfCheckPoint(point);
    const known = this.#points.get(key);
    if (known !== undefined) {
      known.reviveOffset = reviveOffset;
      this.#need(known);
      this.#acknowledge(key, known, known.bitMap | point.bitMap);
      return;
    }
    const live: LiveCheckPoint = {
      point,
      reviveQueueId,
      reviveOffset,
      bitMap: 0,
      dueMs,
      isDone: false,
    };
    this.#points.set(key, live);
    this.#due.push(dueMs, live);
    this.#need(live);
    this.#liveCounts.set(reviveQueueId, this.liveCount(reviveQueueId) + 1);
    this.#count(point, point.offsets.length);
    const early = this.#early.get(key);
    this.#early.delete(key);
    this.#acknowledge(
      key,
      live,
      point.bitMap | bitsOf(point, early?.offsets ?? []),
    );
  }

  /**
   * A record with tag `ack` or `bAck`. One whose check point is not there is kept until `dueMs`,
   * for then the check point may still be on its way.
   */
  onAck(
    ack: AckMsg,
    reviveOffset: number,
    dueMs: number,
    nowMs: number,
  ): void {
    const key = keyOfCheckPoint(ack);
    const live = this.#points.get(key);
    if (live !== undefined) {
      this.#acknowledge(
        key,
        live,
        live.bitMap | bitsOf(live.point, ack.offsets),
      );
      return;
    }
    const expiresMs = dueMs + EARLY_ACK_GRACE_MS;
    if (expiresMs <= nowMs || this.#early.size >= EARLY_ACKS_MAX) return;
    const early = this.#early.get(key);
    if (early !== undefined) early.offsets.push(...ack.offsets);
    else {
      this.#early.set(key, {
        offsets: [...ack.offsets],
        reviveOffset,
        expiresMs,
      });
    }
  }

  /** The check point that is due first; undefined when none is. */
  firstDue(nowMs: number): LiveCheckPoint | undefined {
    for (let first = this.#due.peek(); first !== undefined;) {
      if (!first.isDone) return first.dueMs <= nowMs ? first : undefined;
      this.#due.pop();
      first = this.#due.peek();
    }
    return undefined;
  }

  /** Takes the check point that is due first from among the due ones; `postpone` puts it back. */
  takeDue(nowMs: number): LiveCheckPoint | undefined {
    const first = this.firstDue(nowMs);
    if (first !== undefined) this.#due.pop();
    return first;
  }

  /** Looks at it again then. */
  postpone(live: LiveCheckPoint, untilMs: number): void {
    if (!live.isDone) this.#due.push(untilMs, live);
  }

  /** What is due, by queue of the revive log. */
  due(
    nowMs: number,
  ): ReadonlyMap<
    number,
    { readonly dueCount: number; readonly lateMs: number }
  > {
    const queues = new Map<number, { dueCount: number; lateMs: number }>();
    for (const { dueMs, reviveQueueId } of this.#points.values()) {
      if (dueMs > nowMs) continue;
      const { dueCount, lateMs } = queues.get(reviveQueueId) ??
        { dueCount: 0, lateMs: 0 };
      queues.set(reviveQueueId, {
        dueCount: dueCount + 1,
        lateMs: Math.max(lateMs, nowMs - dueMs),
      });
    }
    return queues;
  }

  /** The oldest check point of a queue of the revive log. */
  oldest(reviveQueueId: number): LiveCheckPoint | undefined {
    return this.#oldest(reviveQueueId)?.point;
  }

  /** The first record of a queue of the revive log that is needed; `nextOffset` when none is. */
  floor(reviveQueueId: number, nextOffset: number): number {
    return this.#oldest(reviveQueueId)?.offset ?? nextOffset;
  }

  /** Drops acknowledgements whose check point has not come. Every few seconds. */
  expireEarlyAcks(nowMs: number): void {
    for (const [key, { expiresMs }] of this.#early) {
      if (expiresMs <= nowMs) this.#early.delete(key);
    }
  }

  /** Queue offsets of what is not acknowledged. */
  static unacknowledged({ bitMap, point }: LiveCheckPoint): number[] {
    return point.offsets.filter((_, index) => (bitMap & (1 << index)) === 0);
  }

  #need(live: LiveCheckPoint): void {
    const { reviveOffset: offset, reviveQueueId } = live;
    let heap = this.#needed.get(reviveQueueId);
    if (heap === undefined) {
      this.#needed.set(reviveQueueId, heap = new MinHeap());
    }
    heap.push(offset, { point: live, offset });
  }

  #oldest(reviveQueueId: number) {
    const heap = this.#needed.get(reviveQueueId);
    for (let first = heap?.peek(); first !== undefined;) {
      const { offset, point } = first;
      if (!point.isDone && point.reviveOffset === offset) return first;
      heap!.pop();
      first = heap!.peek();
    }
    return undefined;
  }

  #acknowledge(key: string, live: LiveCheckPoint, bitMap: number): void {
    const { offsets } = live.point;
    const added = bitCount(bitMap & ~live.bitMap);
    live.bitMap = bitMap;
    if (added > 0) this.#count(live.point, -added);
    if (bitCount(bitMap) < offsets.length) return;
    live.isDone = true;
    this.#points.delete(key);
    this.#liveCounts.set(
      live.reviveQueueId,
      this.liveCount(live.reviveQueueId) - 1,
    );
  }

  #count({ topic, group, queueId }: PopCheckPoint, change: number): void {
    const key = queueKey(topic, group, queueId);
    const count = (this.#inFlight.get(key) ?? 0) + change;
    if (count > 0) this.#inFlight.set(key, count);
    else this.#inFlight.delete(key);
    this.#inFlightCount += change;
  }
}

function queueKey(topic: string, group: string, queueId: number): string {
  return `${topic}@${group}@${queueId}`;
}

function bitsOf(point: PopCheckPoint, offsets: readonly number[]): number {
  let bits = 0;
  for (const offset of offsets) {
    const index = point.offsets.indexOf(offset);
    if (index >= 0) bits |= 1 << index;
  }
  return bits;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
