/**
 * How the offsets of two brokers become one (DESIGN "Consumer offsets").
 *
 * Per `topic@group`: the higher generation wins as a whole; of equal
 * generations the higher offset of each queue. An Apache master knows no
 * generations: it is followed, also backwards, except where this slave holds
 * commits of its own that are higher.
 */
import {
  type ConsumerOffsetTable,
  type OffsetsFile,
  type QueueOffsets,
  splitKey,
  topicAtGroup,
} from "./consumer_offset_table.ts";
import type { OffsetGenerations } from "./offset_generations.ts";

const NO_OFFSETS: ReadonlyMap<number, number> = new Map();

/** One offset of one queue. */
export interface ConsumerQueueOffset {
  readonly group: string;
  readonly topic: string;
  readonly queueId: number;
  readonly offset: number;
  /** What the other broker has; -1: nothing. */
  readonly theirs: number;
}

/** What a merge did. */
export interface OffsetMerge {
  readonly isChanged: boolean;
  /** Where this broker stands further than the other one: to be told to it. */
  readonly ahead: readonly ConsumerQueueOffset[];
}

/** What a merge works on; changed in place. */
export interface OffsetMergeTarget {
  readonly table: ConsumerOffsetTable;
  readonly generations: OffsetGenerations;
}

/** A slave follows a PocketMQ master. */
export function followMaster(
  target: OffsetMergeTarget,
  master: OffsetsFile,
): OffsetMerge {
  const merge = new Merge(target);
  for (const key of keysOf(target, master)) {
    const [topic, group] = splitKey(key);
    const theirs = master.table.get(group, topic)?.offsets ?? NO_OFFSETS;
    const generation = master.generations.of(key);
    const ours = target.generations.of(key);
    if (generation > ours) {
      merge.replace(group, topic, theirs, generation);
      continue;
    }
    // The master forgot a reset that was made there: it is told again.
    if (generation < ours) merge.ownAll(group, topic, generation);
    merge.take(group, topic, theirs, false);
  }
  return merge.result();
}

/** A slave follows an Apache master; entries without a group there have gone with it. */
export function followApacheMaster(
  target: OffsetMergeTarget,
  master: OffsetsFile,
  hasGroup: (group: string) => boolean,
): OffsetMerge {
  const merge = new Merge(target);
  for (const [group, topic, queues] of [...target.table.entries()]) {
    const isKnown = master.table.get(group, topic) !== undefined;
    if (isKnown || queues.own !== null) continue;
    if (!hasGroup(group)) merge.remove(group, topic);
  }
  for (const [group, topic, { offsets }] of master.table.entries()) {
    merge.take(group, topic, offsets, true);
  }
  for (const [group, topic, { own }] of target.table.entries()) {
    if (own !== null && master.table.get(group, topic) === undefined) {
      merge.take(group, topic, NO_OFFSETS, true);
    }
  }
  return merge.result();
}

/**
 * A master that starts takes what a slave has. `limitOf` gives the end of a
 * queue here: what lies beyond is of records that this broker lost.
 */
export function mergeForward(
  target: OffsetMergeTarget,
  slave: OffsetsFile,
  hasTopic: (topic: string) => boolean,
  limitOf: (topic: string, queueId: number) => number,
): OffsetMerge {
  const merge = new Merge(target);
  for (const key of keysOf(slave, null)) {
    const [topic, group] = splitKey(key);
    if (!hasTopic(topic)) continue;
    const theirs = new Map<number, number>();
    for (const [id, it] of slave.table.get(group, topic)?.offsets ?? []) {
      theirs.set(id, Math.min(it, limitOf(topic, id)));
    }
    const generation = slave.generations.of(key);
    const ours = target.generations.of(key);
    if (generation > ours) merge.replace(group, topic, theirs, generation);
    else if (generation === ours) merge.take(group, topic, theirs, false);
  }
  return merge.result();
}

/** Puts positions beyond the end of their queue at it. Which `[group, topic]` had any. */
export function lowerToEnds(
  table: ConsumerOffsetTable,
  endOf: (topic: string, queueId: number) => number,
): (readonly [group: string, topic: string])[] {
  const lowered: (readonly [string, string])[] = [];
  for (const [group, topic, queues] of table.entries()) {
    const beyond = [...queues.offsets].filter(([queueId, offset]) =>
      offset > endOf(topic, queueId)
    );
    if (beyond.length === 0) continue;
    for (const [queueId] of beyond) {
      queues.offsets.set(queueId, endOf(topic, queueId));
    }
    queues.text = undefined;
    lowered.push([group, topic]);
  }
  return lowered;
}

/** Every key that either side has offsets or a generation for. */
function keysOf(a: OffsetMergeTarget, b: OffsetMergeTarget | null) {
  const keys = new Set<string>();
  for (const side of b === null ? [a] : [a, b]) {
    for (const [group, topic] of side.table.entries()) {
      keys.add(topicAtGroup(topic, group));
    }
    for (const key of side.generations.keys()) keys.add(key);
  }
  return keys;
}

class Merge {
  #isChanged = false;
  readonly #ahead: ConsumerQueueOffset[] = [];

  constructor(private readonly target: OffsetMergeTarget) {}

  result(): OffsetMerge {
    return { isChanged: this.#isChanged, ahead: this.#ahead };
  }

  remove(group: string, topic: string): void {
    if (this.target.table.delete(group, topic)) this.#isChanged = true;
  }

  /** Their offsets as they are; nothing of ours stays. */
  replace(
    group: string,
    topic: string,
    theirs: ReadonlyMap<number, number>,
    generation: number,
  ): void {
    const { table, generations } = this.target;
    generations.set(topicAtGroup(topic, group), generation);
    this.#isChanged = true;
    table.delete(group, topic);
    if (theirs.size === 0) return;
    const queues = table.entry(group, topic);
    for (const [queueId, offset] of theirs) queues.offsets.set(queueId, offset);
  }

  /** All that stands here is a reset of `generation` that the other side has not seen. */
  ownAll(group: string, topic: string, generation: number): void {
    this.target.generations.set(topicAtGroup(topic, group), generation);
    this.#isChanged = true;
    const ours = this.target.table.get(group, topic);
    if (ours === undefined) return;
    ours.own = new Map([...ours.offsets.keys()].map((it) => [it, true]));
  }

  /**
   * Takes their offsets, but for those where this broker is ahead: by a higher
   * commit (with `onlyOwn` one that was made here), or by a reset made here.
   */
  take(
    group: string,
    topic: string,
    theirs: ReadonlyMap<number, number>,
    onlyOwn: boolean,
  ): void {
    const ours = this.target.table.get(group, topic);
    const kept = new Set<number>();
    for (const [queueId, offset] of ours?.offsets ?? []) {
      const their = theirs.get(queueId) ?? -1;
      const isReset = ours?.own?.get(queueId);
      const isAhead = isReset === true
        ? offset !== their
        : offset > their && (isReset !== undefined || !onlyOwn);
      if (!isAhead) continue;
      kept.add(queueId);
      noteOwn(ours!, queueId);
      this.#ahead.push({ group, topic, queueId, offset, theirs: their });
    }
    for (const [queueId, offset] of theirs) {
      if (!kept.has(queueId)) this.#set(group, topic, queueId, offset);
    }
  }

  #set(group: string, topic: string, queueId: number, offset: number): void {
    const queues = this.target.table.entry(group, topic);
    forgetOwn(queues, queueId);
    if (queues.offsets.get(queueId) === offset) return;
    queues.offsets.set(queueId, offset);
    queues.text = undefined;
    this.#isChanged = true;
  }
}

/** The master does not know the queue's offset. */
function noteOwn(queues: QueueOffsets, queueId: number): void {
  queues.own ??= new Map();
  if (!queues.own.has(queueId)) queues.own.set(queueId, false);
}

/** The master knows the queue's offset now. */
export function forgetOwn(queues: QueueOffsets, queueId: number): void {
  if (!queues.own?.delete(queueId)) return;
  if (queues.own.size === 0) queues.own = null;
}
