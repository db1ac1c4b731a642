import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { MinHeap } from "../../src/base/min_heap.ts";
import { SimRandom } from "../sim/sim_random.ts";

test("MinHeap gives what it took in the order of the keys", () => {
  const random = new SimRandom(7);
  const heap = new MinHeap<string>();
  let keys: number[] = [];
  for (let round = 0; round < 2_000; round++) {
    if (random.nextInt(3) > 0) {
      const key = random.nextInt(100);
      keys.push(key);
      heap.push(key, `item ${key}`);
      continue;
    }
    keys = keys.toSorted((a, b) => a - b);
    assertEquals(heap.peekKey(), keys[0]);
    const first = keys.shift();
    assertEquals(heap.pop(), first === undefined ? undefined : `item ${first}`);
    assertEquals(heap.size, keys.length);
  }
  assertEquals(heap.peek(), `item ${Math.min(...keys)}`);
});
