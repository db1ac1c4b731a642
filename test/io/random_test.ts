import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { describe, it } from "node:test";
import type { Random } from "../../src/io/random.ts";
import { SimRandom } from "../sim/sim_random.ts";
import { openRuntime } from "#runtime";

const RANDOMS: Record<string, () => Random> = {
  runtime: () => openRuntime().random,
  simulated: () => new SimRandom(7),
};

for (const [name, make] of Object.entries(RANDOMS)) {
  describe(`Random (${name})`, () => {
    it("nextInt() is whole, from 0, below its bound, and reaches all", () => {
      const random = make();
      const counts = new Array(10).fill(0);
      for (let count = 0; count < 10_000; count++) counts[random.nextInt(10)]++;
      assertEquals(counts.length, 10);
      for (const count of counts) assert(count > 700 && count < 1300);
      assertEquals(random.nextInt(1), 0);
    });

    it("nextInt() fills large bounds", () => {
      const random = make();
      const bound = 2 ** 50;
      const values = Array.from({ length: 100 }, () => random.nextInt(bound));
      assert(values.every((it) => Number.isSafeInteger(it) && it < bound));
      assert(values.some((it) => it > bound / 2));
      assert(values.some((it) => it % 2 === 1));
    });
  });
}

describe("SimRandom", () => {
  it("repeats itself for a seed and differs for another", () => {
    const first = (seed: number) => new SimRandom(seed).bytes(16);
    assertEquals(first(1), first(1));
    assertNotEquals(first(1), first(2));
    assertNotEquals(first(0), first(1));
  });
});
