/** NodeRandom: the Random port over the runtime's generator. */
import type { Random } from "../io/random.ts";

/** Chance; not for secrets. */
export class NodeRandom implements Random {
  nextInt(bound: number): number {
    return Math.floor(Math.random() * bound);
  }
}
