import { assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  formatJavaProperties,
  parseJavaProperties,
} from "../../src/base/java_properties.ts";

test("parseJavaProperties() follows java.util.Properties", () => {
  const text = [
    "# a comment",
    "! another",
    "",
    "  brokerName = broker-a",
    "path:/tmp/x=y",
    "spaced   out",
    "empty=",
    "long=one, \\",
    "    two",
    "uni=\\u00e4\\t\\q",
    "a\\=b=c",
    "twice=1\r\ntwice=2",
    "end\\",
  ].join("\n");
  assertEquals([...parseJavaProperties(text)], [
    ["brokerName", "broker-a"],
    ["path", "/tmp/x=y"],
    ["spaced", "out"],
    ["empty", ""],
    ["long", "one, two"],
    ["uni", "\u00e4\tq"],
    ["a=b", "c"],
    ["twice", "2"],
    ["end", ""],
  ]);
});

test("formatJavaProperties() is read back", () => {
  const entries: [string, string][] = [["a", "b"], ["path", "C:\\x\ny"]];
  assertEquals(
    [...parseJavaProperties(formatJavaProperties(entries))],
    entries,
  );
});
