import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { Histogram } from "../../src/base/histogram.ts";

test("Histogram counts a value below the first bound that it does not exceed", () => {
  const histogram = new Histogram(Float64Array.of(1, 10));
  for (const value of [0, 1, 2, 10, 11]) histogram.add(value);
  histogram.add(5, 3);
  assertEquals([...histogram.counts], [2, 5, 1]);
  assertEquals(histogram.sum, 24 + 15);
});
