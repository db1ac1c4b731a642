/**
 * DeletedTopics: topics that were deleted, by the time of it. Kept in
 * topics.json under a key of ours, which Apache's brokers ignore.
 *
 * The records of a deleted topic stay in the log for a while, and dispatch
 * after an unclean stop builds its queues anew. Without this memory the topic
 * would come back although its deletion was answered.
 */
import type { TopicConfig } from "../model/topic_config.ts";
import type { JsonObject } from "../protocol/body/json_fields.ts";

const KEY = "deletedTopics";
/** The oldest go first: their records are the first to leave the log. */
const DELETED_TOPICS_MAX = 1_000;

/** The names, oldest first. */
export class DeletedTopics {
  readonly #deletedMs = new Map<string, number>();

  has(topic: string): boolean {
    return this.#deletedMs.has(topic);
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

  /** The list after `gone` were deleted and `present` exist (again). */
  after(
    gone: readonly string[],
    present: ReadonlyMap<string, TopicConfig>,
    nowMs: number,
  ): DeletedTopics {
    const next = new DeletedTopics();
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

  /** Reads the key, if it is there; a topic that exists is not deleted. */
  load(
    fileKeys: JsonObject,
    topics: ReadonlyMap<string, TopicConfig>,
  ): void {
    const table = fileKeys[KEY];
    if (typeof table !== "object" || table === null) return;
    for (const [topic, deletedMs] of Object.entries(table)) {
      if (typeof deletedMs !== "number" || topics.has(topic)) continue;
      this.add(topic, deletedMs);
    }
  }

  /** The key with its value; undefined leaves it out of the file. */
  toJson(): JsonObject {
    return { [KEY]: this.#deletedMs.size === 0 ? undefined : this.#deletedMs };
  }
}
