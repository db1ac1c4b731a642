import { assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import {
  buildSubscriptionData,
  matchesTagsCode,
  SubscriptionParseError,
} from "../../src/model/filter_api.ts";

test("buildSubscriptionData() splits tags at || and trims them", () => {
  const data = buildSubscriptionData("T", " TagA || TagB|| TagA ", "TAG", 7);
  assertEquals(data.tagsSet, ["TagA", "TagB"]);
  // String.hashCode of "TagA" and "TagB".
  assertEquals(data.codeSet, [2598919, 2598920]);
  assertEquals(data.subString, " TagA || TagB|| TagA ");
  assertEquals(data.subVersion, 7);
});

test("buildSubscriptionData() reads *, empty and null as all tags", () => {
  for (const expression of ["*", "", null, undefined]) {
    const data = buildSubscriptionData("T", expression);
    assertEquals(data.subString, "*");
    assertEquals(data.codeSet, []);
    assertEquals(matchesTagsCode(data, 123), true);
  }
});

test("buildSubscriptionData() refuses || alone, as Java", () => {
  assertThrows(
    () => buildSubscriptionData("T", "||"),
    SubscriptionParseError,
    "names no tag",
  );
  assertEquals(buildSubscriptionData("T", " ").codeSet, []);
});

test("buildSubscriptionData() keeps other types as they are", () => {
  const data = buildSubscriptionData("T", "a > 1", "SQL92");
  assertEquals(data.expressionType, "SQL92");
  assertEquals(data.subString, "a > 1");
  assertThrows(
    () => buildSubscriptionData("T", "", "SQL92"),
    SubscriptionParseError,
  );
});

test("matchesTagsCode() compares 32 bits", () => {
  const data = buildSubscriptionData("T", "TagA");
  assertEquals(matchesTagsCode(data, 2598919), true);
  assertEquals(matchesTagsCode(data, 2598919 + 2 ** 32), true);
  assertEquals(matchesTagsCode(data, 1), false);
});
