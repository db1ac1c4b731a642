/**
 * DeletedTopics: topics that were deleted, by the time of it. Kept in
 * topics.json under a key of ours, which Apache's brokers ignore.
 *
 * The records of a deleted topic stay in the log for a while, and dispatch
 * after an unclean stop builds its queues anew. Without this memory the topic
 * would come back although its deletion was answered.
 */
import type { TopicConfig } from "../model/topic_config.ts";
import { TopicDeletions } from "./topic_deletions.ts";
import type { JsonObject } from "../protocol/body/json_fields.ts";

const KEY = "deletedTopics";
/** The oldest go first: their records are the first to leave the log. */
const DELETED_TOPICS_MAX = 1_000;

/** The names, oldest first. */
export class DeletedTopics {
  readonly #deletedMs = new Map<string, number>();
  /** Also of topics that exist again. */
  #deletions = new TopicDeletions();

  /** Where the log ended when topics were deleted. */
  get deletions(): TopicDeletions {
    return this.#deletions;
  }

  has(topic: string): boolean {
    return this.#deletedMs.has(topic);
  }

  /** The topic is deleted now, where the log ends at `logEnd`. */
  delete(topic: string, nowMs: number, logEnd: number): void {
    this.add(topic, nowMs);
    this.#deletions.set(topic, logEnd);
  }

  add(topic: string, nowMs: number): void {
    this.#deletedMs.delete(topic);
    this.#deletedMs.set(topic, nowMs);
    if (this.#deletedMs.size <= DELETED_TOPICS_MAX) return;
    for (const oldest of this.#deletedMs.keys()) {
      this.#deletedMs.delete(oldest);
      break;
    }
  }

  /**
   * The list of a slave that takes over the table `present`, without `gone`;
   * `answerKeys` are the other keys of its master's answer.
   */
  after(
    gone: readonly string[],
    present: ReadonlyMap<string, TopicConfig>,
    answerKeys: JsonObject,
    nowMs: number,
  ): DeletedTopics {
    const next = new DeletedTopics();
    next.#deletions = TopicDeletions.fromJson(answerKeys) ?? this.#deletions;
    for (const [topic, deletedMs] of this.#deletedMs) {
      if (!present.has(topic)) next.add(topic, deletedMs);
    }
    for (const topic of gone) next.add(topic, nowMs);
    return next;
  }

  /** The topic exists again. */
  remove(topic: string): void {
    this.#deletedMs.delete(topic);
  }

  /** Reads the keys, if they are there; a topic that exists is not deleted. */
  load(
    fileKeys: JsonObject,
    topics: ReadonlyMap<string, TopicConfig>,
  ): void {
    this.#deletions = TopicDeletions.fromJson(fileKeys) ?? this.#deletions;
    const table = fileKeys[KEY];
    if (typeof table !== "object" || table === null) return;
    for (const [topic, deletedMs] of Object.entries(table)) {
      if (typeof deletedMs !== "number" || topics.has(topic)) continue;
      this.add(topic, deletedMs);
    }
  }

  /** The keys with their values; undefined leaves one out of the file. */
  toJson(): JsonObject {
    return {
      [KEY]: this.#deletedMs.size === 0 ? undefined : this.#deletedMs,
      ...this.#deletions.toJson(),
    };
  }
}
