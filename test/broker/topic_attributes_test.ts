import { assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import {
  alterAttributes,
  AttributeError,
  parseAttributes,
} from "../../src/broker/topic_attributes.ts";

test("parseAttributes() reads a modification", () => {
  assertEquals([...parseAttributes(undefined)], []);
  assertEquals([...parseAttributes("+a=1,-b")], [["+a", "1"], ["-b", ""]]);
  assertEquals([...parseAttributes("+a=x=y")], [["+a", "x=y"]]);
  for (const text of ["a=1", "-a=1", "a", "+a"]) {
    assertThrows(() => parseAttributes(text), AttributeError, "wrong format");
  }
  assertThrows(() => parseAttributes("+a=1,+a=2"), AttributeError, "twice");
});

test("alterAttributes() refuses to add and delete one key at once", () => {
  const modification = parseAttributes("+message.type=FIFO,-message.type");
  assertThrows(
    () => alterAttributes({}, modification),
    AttributeError,
    "altered twice",
  );
});

test("alterAttributes() keeps unknown attributes of an older table", () => {
  assertEquals(
    alterAttributes({ future: "1" }, parseAttributes("+message.type=FIFO")),
    { future: "1", "message.type": "FIFO" },
  );
});
