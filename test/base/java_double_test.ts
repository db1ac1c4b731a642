import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { javaDouble } from "../../src/base/java_double.ts";

test("javaDouble() writes whole numbers with a fraction", () => {
  assertEquals([0, 5, -3, 0.25, 1234.5].map(javaDouble), [
    "0.0",
    "5.0",
    "-3.0",
    "0.25",
    "1234.5",
  ]);
});
