import { assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import {
  groupError,
  isForbiddenSendTopic,
  isSystemTopic,
  topicError,
} from "../../src/model/validators.ts";

test("topicError() takes every character of RocketMQ's alphabet", () => {
  assertEquals(topicError("Az09_-%|"), undefined);
  assertEquals(topicError("%RETRY%group+topic") === undefined, false);
});

test("topicError() names field, value and limit", () => {
  assertEquals(topicError(" "), "The specified topic is blank.");
  assertEquals(topicError(""), "The specified topic is blank.");
  assertEquals(
    topicError("a b"),
    'The specified topic "a b" contains illegal characters, ' +
      "allowing only ^[%|a-zA-Z0-9_-]+$.",
  );
  assertStringIncludes(topicError("a\u0000\nb")!, '"a??b"');
  assertStringIncludes(topicError("x".repeat(128))!, "128 characters");
  assertStringIncludes(topicError("x".repeat(128))!, "max length 127");
});

test("topicError() allows 127 characters, 255 for retry and DLQ topics", () => {
  assertEquals(topicError("x".repeat(127)), undefined);
  for (const prefix of ["%RETRY%", "%DLQ%"]) {
    assertEquals(topicError(prefix.padEnd(255, "x")), undefined);
    assertStringIncludes(topicError(prefix.padEnd(256, "x"))!, "255");
  }
});

test("groupError() allows 120 characters", () => {
  assertEquals(groupError("x".repeat(120)), undefined);
  assertStringIncludes(groupError("x".repeat(121))!, "max length 120");
  assertEquals(groupError(""), "The specified group is blank.");
});

test("isForbiddenSendTopic() lets the trace topic pass", () => {
  assertEquals(isForbiddenSendTopic("SCHEDULE_TOPIC_XXXX"), true);
  assertEquals(isForbiddenSendTopic("RMQ_SYS_TRACE_TOPIC"), false);
  assertEquals(isSystemTopic("RMQ_SYS_TRACE_TOPIC"), true);
  assertEquals(isSystemTopic("rmq_sys_anything"), true);
  assertEquals(isSystemTopic("TopicTest"), false);
});
