/** Signatures against those that Apache's AclClientRPCHook 4.9.7 makes of the same requests. */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  createRequest,
  type ExtFields,
} from "../../src/protocol/remoting_command.ts";
import {
  isSignedWith,
  signRequest,
} from "../../src/protocol/request_signature.ts";

const V4_9_3 = 399;
const ROCKETMQ = { accessKey: "RocketMQ", secretKey: "12345678" };

/** Fields, text of the body, who signs, and what Apache made of it. */
const VECTORS: [string, ExtFields, string, typeof ROCKETMQ, string][] = [
  [
    "header fields",
    { consumerGroup: "g1", topic: "TopicTest" },
    "",
    ROCKETMQ,
    "EjsSSrLQvp/+phisHrMgN4q0g+8=",
  ],
  [
    "names in the order of UTF-16, a token and a body",
    {
      SecurityToken: "token-1",
      a: "größe-producers",
      b: "TopicTest",
      i: "KEYS\u0001k\u0002",
      Zulu: "1",
      "é": "2",
      "\u{1F600}": "3",
      "\uFF5E": "4",
    },
    "héllo \u0000\u00ff",
    { accessKey: "rocketmq2", secretKey: "geheim-größe" },
    "gitkAtXjY2iQ9HkLGPjEsY4RJ/4=",
  ],
  [
    "the flag of a query by unique key",
    { topic: "T", _UNIQUE_KEY_QUERY: "true" },
    "",
    ROCKETMQ,
    "X+UD8KPuhJst+uxbtYViNlIFkOA=",
  ],
];

for (const [name, fields, body, credentials, signature] of VECTORS) {
  test(`signRequest() signs ${name} as Apache does`, () => {
    const request = createRequest(11, { ...fields }, encode(body));
    signRequest(request, credentials);
    assertEquals(request.extFields["Signature"], signature);
    assertEquals(request.extFields["AccessKey"], credentials.accessKey);
    assertEquals(isSignedWith(request, credentials.secretKey), true);
    assertEquals(isSignedWith(request, `${credentials.secretKey}x`), false);
    request.extFields["more"] = "x";
    assertEquals(isSignedWith(request, credentials.secretKey), false);
    signRequest(request, credentials);
    assertEquals(isSignedWith(request, credentials.secretKey), true);
    request.body = encode(`${body}x`);
    assertEquals(isSignedWith(request, credentials.secretKey), false);
  });
}

test("isSignedWith() leaves out what clients up to 4.9.3 add after signing", () => {
  const request = createRequest(12, { topic: "T" });
  signRequest(request, ROCKETMQ);
  request.extFields["_UNIQUE_KEY_QUERY"] = "true";
  assertEquals(isSignedWith(request, ROCKETMQ.secretKey), false);
  request.version = V4_9_3;
  assertEquals(isSignedWith(request, ROCKETMQ.secretKey), true);
});

test("isSignedWith() is false without a signature, or with an empty one", () => {
  const request = createRequest(11, { AccessKey: "RocketMQ" });
  assertEquals(isSignedWith(request, ROCKETMQ.secretKey), false);
  request.extFields["Signature"] = "";
  assertEquals(isSignedWith(request, ROCKETMQ.secretKey), false);
});

test("signRequest() leaves the name and signature of a client whose request is handed on", () => {
  const request = createRequest(15, { topic: "T" });
  signRequest(request, ROCKETMQ);
  const before = { ...request.extFields };
  signRequest(request, { accessKey: "the-slave", secretKey: "its-secret" });
  assertEquals(request.extFields, before);
});

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
