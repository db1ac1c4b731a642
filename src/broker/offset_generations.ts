/**
 * OffsetGenerations: which deliberate change of offsets a group has seen on a
 * topic. Kept in consumerOffset.json under a key of ours, which Apache's
 * brokers ignore.
 *
 * Offsets of a pair merge forward: the higher one wins. A reset backwards and
 * a deletion would be undone by that, so they raise the generation of their
 * `topic@group`, and the higher generation wins over the maximum. The
 * generation of a deletion outlives its offsets.
 */
import { integerOf, type JsonObject } from "../protocol/body/json_fields.ts";

const KEY = "offsetGenerations";
/** The oldest go first; one entry is about 100 bytes. */
const GENERATIONS_MAX = 100_000;

/** Generations by `topic@group`; 0 where nothing was ever reset. */
export class OffsetGenerations {
  readonly #generations = new Map<string, number>();

  of(key: string): number {
    return this.#generations.get(key) ?? 0;
  }

  keys(): Iterable<string> {
    return this.#generations.keys();
  }

  /**
   * A new generation. It is the time of the change, so that of two changes on
   * two nodes the later one wins, and never less than the one before plus 1.
   */
  raise(key: string, nowMs: number): void {
    this.set(key, Math.max(this.of(key) + 1, nowMs));
  }

  set(key: string, generation: number): void {
    this.#generations.delete(key);
    this.#generations.set(key, generation);
    if (this.#generations.size <= GENERATIONS_MAX) return;
    for (const oldest of this.#generations.keys()) {
      this.#generations.delete(oldest);
      break;
    }
  }

  /** Reads the key of the file, if it is there; throws `BodyError`. */
  static fromJson(fileKeys: JsonObject): OffsetGenerations {
    const generations = new OffsetGenerations();
    const table = fileKeys[KEY];
    if (typeof table !== "object" || table === null) return generations;
    for (const [key, value] of Object.entries(table)) {
      generations.set(key, integerOf(value, KEY));
    }
    return generations;
  }

  /** The key with its value; empty when there is none. */
  toJson(): JsonObject {
    return this.#generations.size === 0
      ? {}
      : { [KEY]: Object.fromEntries(this.#generations) };
  }
}
