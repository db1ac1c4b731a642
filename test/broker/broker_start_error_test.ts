import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import {
  BrokerStartError,
  startErrorOf,
} from "../../src/broker/broker_start_error.ts";
import { FileError, type FileErrorKind } from "../../src/io/file_system.ts";

test("startErrorOf() gives a cure that fits what the disk said", () => {
  const cures: [FileErrorKind, string][] = [
    ["too-many-open", "ulimit -n"],
    ["too-many-open", "storeOpenFilesMax"],
    ["no-space", "free space"],
    ["io", "check that disk"],
    ["denied", "this user can write"],
  ];
  for (const [kind, words] of cures) {
    const cause = new FileError("Cannot open /s/f", kind, "/s/f");
    const error = startErrorOf(cause, "/s");
    assert(error instanceof BrokerStartError);
    assert(error.cure.includes(words), error.cure);
  }
  const other = new Error("another");
  assertEquals(startErrorOf(other, "/s"), other);
});
