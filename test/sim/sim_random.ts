/** SimRandom: chance that a seed repeats (xorshift32 behind a scrambled seed). */
import process from "node:process";
import type { Random } from "../../src/io/random.ts";

/** The same seed gives the same numbers on every machine. */
export class SimRandom implements Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    // Neighbouring seeds would start alike: mix them first (murmur's finaliser).
    let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    this.#state = (mixed ^ (mixed >>> 16)) || 1; // Zero would stay zero.
  }

  nextInt(bound: number): number {
    const unit = (this.#next() * 2 ** 21 + (this.#next() >>> 11)) / 2 ** 53;
    return Math.floor(unit * bound);
  }

  /** True once in `count` times. */
  oneIn(count: number): boolean {
    return this.nextInt(count) === 0;
  }

  /** One of `values`, which is not empty. */
  pick<T>(values: readonly T[]): T {
    return values[this.nextInt(values.length)]!;
  }

  /** `size` bytes. */
  bytes(size: number): Uint8Array {
    return Uint8Array.from({ length: size }, () => this.nextInt(256));
  }

  /** 32 unsigned bits. */
  #next(): number {
    let it = this.#state;
    it ^= it << 13;
    it ^= it >>> 17;
    it ^= it << 5;
    this.#state = it;
    return it >>> 0;
  }
}

/**
 * The seeds to run: `TEST_SEED` alone where it is set, those of `TEST_SEEDS` (`501-1000`), else
 * 1 to `count`. A failing test names its seed, as in `[seed=7]`.
 */
export function seeds(
  count: number,
  env: Readonly<Record<string, string | undefined>> = process.env,
): number[] {
  const wanted = env["TEST_SEED"];
  if (wanted !== undefined) return [Number(wanted)];
  const [first, last] = (env["TEST_SEEDS"] ?? `1-${count}`).split("-", 2);
  const from = Number(first);
  return Array.from({ length: Number(last) - from + 1 }, (_, it) => from + it);
}

/** Runs `story` once for each seed; a failure says which one repeats it. */
export async function forSeeds(
  count: number,
  story: (random: SimRandom) => void | Promise<void>,
): Promise<void> {
  for (const seed of seeds(count)) {
    try {
      await story(new SimRandom(seed));
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`[seed=${seed}] ${message}`, { cause });
    }
  }
}
