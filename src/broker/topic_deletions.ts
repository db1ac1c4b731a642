/**
 * TopicDeletions: where the log ended when a topic was deleted last. Kept in
 * topics.json, and told to slaves, under a key of ours that Apache ignores.
 *
 * A slave that was away cannot see that a topic was deleted and made again:
 * the name is in both tables. Records of the topic below that place belong to
 * the deleted one; their queues must go on the slave too.
 */
import { integerOf, type JsonObject } from "../protocol/body/json_fields.ts";

const KEY = "topicDeletions";
/** The oldest go first: their records are the first to leave the log. */
const DELETIONS_MAX = 1_000;

/** What became of the table of a slave. */
export interface TopicReplacement {
  /** Topics that the master no longer has. */
  readonly gone: readonly string[];
  /** Deletions that are news here: the end of the log by topic, also of topics made again. */
  readonly deletions: ReadonlyMap<string, number>;
}

/** Ends of the log by topic, oldest first. */
export class TopicDeletions {
  readonly #logEnds = new Map<string, number>();

  get(topic: string): number | undefined {
    return this.#logEnds.get(topic);
  }

  entries(): Iterable<[string, number]> {
    return this.#logEnds.entries();
  }

  set(topic: string, logEnd: number): void {
    this.#logEnds.delete(topic);
    this.#logEnds.set(topic, logEnd);
    if (this.#logEnds.size <= DELETIONS_MAX) return;
    for (const oldest of this.#logEnds.keys()) {
      this.#logEnds.delete(oldest);
      break;
    }
  }

  /** What is here and was not in `before`. */
  since(before: TopicDeletions): ReadonlyMap<string, number> {
    return new Map(
      [...this.#logEnds].filter(([topic, it]) => before.get(topic) !== it),
    );
  }

  /** Reads the key of a file or an answer; undefined when it is not there. Throws `BodyError`. */
  static fromJson(keys: JsonObject): TopicDeletions | undefined {
    const table = keys[KEY];
    if (typeof table !== "object" || table === null) return undefined;
    const deletions = new TopicDeletions();
    for (const [topic, logEnd] of Object.entries(table)) {
      deletions.set(topic, integerOf(logEnd, topic));
    }
    return deletions;
  }

  /** The key with its value; undefined leaves it out. */
  toJson(): JsonObject {
    return {
      [KEY]: this.#logEnds.size === 0
        ? undefined
        : Object.fromEntries(this.#logEnds),
    };
  }
}
