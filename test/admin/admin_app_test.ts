import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { ALONE, fakeApp } from "./fake_facade.ts";

test("adminApp() answers the probes", async () => {
  const { ask, state } = fakeApp();
  assertEquals((await ask("GET", "/livez")).body, { status: "ok" });
  assertEquals((await ask("GET", "/readyz")).body, { status: "ready" });
  state.isReady = false;
  const verbose = await ask("GET", "/readyz?verbose");
  assertEquals(verbose.status, 503);
  assertEquals(verbose.body.checks, [
    { name: "store", ok: false, detail: "the disk is full" },
  ]);
  assertEquals((await ask("GET", "/healthz")).status, 503);
});

test("adminApp() serves metrics, OpenAPI and the dashboard", async () => {
  const { ask } = fakeApp();
  assertEquals((await ask("GET", "/metrics")).body, "a 1\n");
  const openapi = await ask("GET", "/openapi.json");
  assertEquals(openapi.body.info.version, "1.2.3");
  for (const path of ["/admin/ha", "/admin/topics/{topic}", "/readyz"]) {
    assert(path in openapi.body.paths, path);
  }
  for (const path of ["/", "/dashboard.js", "/dashboard.css"]) {
    const page = await ask("GET", path);
    assertEquals(page.status, 200);
    assert(page.headers.get("content-security-policy")!.includes("'none'"));
    assert(!/https?:\/\//.test(page.body), `${path} has no foreign asset`);
  }
});

test("GET /admin/ha has the shape of the contract", async () => {
  const { ask } = fakeApp();
  assertEquals((await ask("GET", "/admin/ha")).body, ALONE);
});

test("POST /admin/ha/role changes the role, or says why not", async () => {
  const { ask } = fakeApp();
  const role = (body: unknown) => ask("POST", "/admin/ha/role", body);
  const refused = await role({ role: "SLAVE" });
  assertEquals([refused.status, refused.body.detail], [
    409,
    "No slave is in sync",
  ]);
  assertEquals(
    refused.headers.get("content-type"),
    "application/problem+json",
  );
  const forced = await role({ role: "MASTER", force: true });
  assertEquals([forced.status, forced.body.role], [200, "SYNC_MASTER"]);
  const wrong: [unknown, string][] = [
    [{}, "role"],
    [{ role: "LEADER" }, "role"],
    [{ role: "SLAVE", force: "yes" }, "force"],
    [{ role: "SLAVE", masterAddress: "nowhere" }, "masterAddress"],
    [{ role: "SLAVE", master: "10.0.0.5:10912" }, "master"],
  ];
  for (const [body, field] of wrong) {
    const answer = await role(body);
    assertEquals([answer.status, answer.body.errors[0].field], [400, field]);
  }
});

test("POST /admin/ha/reseed says what it took out, or why not", async () => {
  const { ask } = fakeApp();
  const reseed = (body?: unknown) => ask("POST", "/admin/ha/reseed", body);
  for (const body of [undefined, {}]) {
    const refused = await reseed(body);
    assertEquals([refused.status, refused.body.detail], [
      409,
      "Only a slave is re-seeded",
    ]);
  }
  const done = await reseed({ force: true });
  assertEquals([done.status, done.body.action], [200, "reseed"]);
  for (const [body, field] of [[{ force: 1 }, "force"], [{ f: 1 }, "f"]]) {
    const answer = await reseed(body);
    assertEquals([answer.status, answer.body.errors[0].field], [400, field]);
  }
});

test("/admin/topics creates, shows, changes and deletes", async () => {
  const { ask, topics } = fakeApp();
  assertEquals((await ask("GET", "/admin/topics/T")).status, 404);
  const made = await ask("PUT", "/admin/topics/T", { readQueueNums: 4 });
  assertEquals(made.status, 200);
  assertEquals(made.body.readQueueNums, 4);
  assertEquals(made.body.writeQueueNums, 8);
  await ask("PUT", "/admin/topics/T", { perm: 4 });
  assertEquals(topics.get("T")?.readQueueNums, 4);
  assertEquals(topics.get("T")?.perm, 4);
  const shown = await ask("GET", "/admin/topics/T");
  assertEquals(shown.body.queues[0].maxOffset, 3);
  assertEquals((await ask("GET", "/admin/topics")).body.topics.length, 1);
  assertEquals((await ask("DELETE", "/admin/topics/T")).status, 204);
  assertEquals((await ask("DELETE", "/admin/topics/T")).status, 404);
});

const BAD_BODIES: readonly [
  method: string,
  path: string,
  body: unknown,
  status: number,
  field: string,
][] = [
  ["PUT", "/admin/topics/T", { readQueueNums: 0 }, 400, "readQueueNums"],
  ["PUT", "/admin/topics/T", { readQueueNums: "8" }, 400, "readQueueNums"],
  ["PUT", "/admin/topics/T", { perm: 9 }, 400, "perm"],
  ["PUT", "/admin/topics/T", { topicName: "U" }, 400, "topicName"],
  ["PUT", "/admin/topics/a%20b", {}, 400, "topic"],
  ["PUT", "/admin/topics/T", { unknown: 1 }, 400, "unknown"],
  ["PUT", "/admin/topics/T", "{", 400, "body"],
  ["PUT", "/admin/topics/T", "[]", 400, "body"],
  ["PUT", "/admin/groups/G", { retryMaxTimes: -2 }, 400, "retryMaxTimes"],
  ["PUT", "/admin/groups/G", { groupName: "H" }, 400, "groupName"],
  ["POST", "/admin/topics/T/messages", {}, 400, "body"],
  [
    "POST",
    "/admin/topics/T/messages",
    { body: "", properties: { a: "b\u0002WAIT\u0001false" } },
    400,
    "properties.a",
  ],
  [
    "POST",
    "/admin/topics/T/messages",
    { body: "", properties: { "a\u0001": "b" } },
    400,
    "properties.a\u0001",
  ],
  [
    "POST",
    "/admin/topics/T/messages",
    { body: "", tag: "a\u0001b" },
    400,
    "tag",
  ],
  [
    "POST",
    "/admin/topics/T/messages",
    { body: "", keys: ["a\u0002b"] },
    400,
    "keys.0",
  ],
  [
    "POST",
    "/admin/topics/T/messages",
    { body: "a", delayLevel: 19 },
    400,
    "delayLevel",
  ],
  [
    "POST",
    "/admin/topics/T/messages",
    { body: "%", encoding: "base64" },
    400,
    "body",
  ],
  ["GET", "/admin/messages", undefined, 400, "topic"],
  ["GET", "/admin/messages?topic=T", undefined, 400, "queueId"],
  ["GET", "/admin/messages?topic=U&key=k", undefined, 404, "topic"],
  ["GET", "/admin/messages?topic=U&msgId=A", undefined, 404, "topic"],
  [
    "GET",
    "/admin/messages?topic=T&queueId=4&offset=0",
    undefined,
    404,
    "queueId",
  ],
  ["GET", "/admin/messages?topic=T&queueId=0", undefined, 400, "offset"],
  [
    "GET",
    "/admin/messages?topic=T&queueId=x&offset=0",
    undefined,
    400,
    "queueId",
  ],
  ["GET", "/admin/messages?topic=T&key=k&max=1000", undefined, 400, "max"],
  ["PATCH", "/admin/config", { nope: 1 }, 400, "nope"],
  ["PATCH", "/admin/config", { listenPort: {} }, 400, "listenPort"],
  ["PATCH", "/admin/config", '{"__proto__":"x"}', 400, "__proto__"],
  ["PATCH", "/admin/config", '{"\\u005f_proto__":"x"}', 400, "__proto__"],
];

for (const [method, path, body, status, field] of BAD_BODIES) {
  test(`${method} ${path} ${JSON.stringify(body)} names ${field}`, async () => {
    const { ask } = fakeApp();
    const answer = await ask(method, path, body);
    assertEquals(answer.status, status, JSON.stringify(answer.body));
    assertEquals(
      answer.headers.get("content-type"),
      "application/problem+json",
    );
    assertEquals(answer.body.status, status);
    assertEquals(answer.body.instance, new URL(path, "http://a").pathname);
    assertEquals(answer.body.errors[0].field, field);
  });
}

test("POST /admin/topics/:topic/messages sends", async () => {
  const { ask, sent } = fakeApp();
  const answer = await ask("POST", "/admin/topics/T/messages", {
    body: "AP8=",
    encoding: "base64",
    tag: "A",
  });
  assertEquals(answer.status, 201);
  assertEquals([answer.body.msgId, answer.body.offsetMsgId], ["A", "B"]);
  assertEquals(sent, [["T", {
    body: Uint8Array.of(0, 255),
    tag: "A",
    keys: [],
    properties: {},
    delayLevel: 0,
    queueId: undefined,
  }]]);
  const closed = await ask("POST", "/admin/topics/Closed/messages", {
    body: "a",
  });
  assertEquals(closed.status, 503);
  assertEquals(closed.body.detail, "The store is read-only");
});

test("/admin/groups shows groups and their lag", async () => {
  const { ask } = fakeApp();
  assertEquals((await ask("GET", "/admin/groups/G/lag")).status, 404);
  const made = await ask("PUT", "/admin/groups/G", { retryMaxTimes: 3 });
  assertEquals(made.body.retryMaxTimes, 3);
  assertEquals(made.body.memberCount, 0);
  const lag = await ask("GET", "/admin/groups/G/lag");
  assertEquals(lag.body.totalLag, 12);
  assertEquals(lag.body.queues.length, 2);
  assertEquals((await ask("GET", "/admin/groups/G")).body.connection, null);
  assertEquals((await ask("DELETE", "/admin/groups/G")).status, 204);
});

test("POST /admin/groups/:group/reset-offset sets offsets, whoever is on line", async () => {
  const { ask, resets } = fakeApp();
  const reset = (group: string, topic: string, place: object) =>
    ask("POST", `/admin/groups/${group}/reset-offset`, { topic, ...place });
  const nobody = await reset("G", "T", { timestamp: 0 });
  assertEquals(nobody.body.errors[0].field, "group");
  await ask("PUT", "/admin/groups/G", {});
  await ask("PUT", "/admin/groups/Online", {});
  const unknown = await reset("G", "U", { timestamp: 0 });
  assertEquals([unknown.status, unknown.body.errors[0].field], [404, "topic"]);
  const done = await reset("G", "T", { timestamp: 5 });
  assertEquals([done.status, done.body.totalLag], [200, 7]);
  assertEquals((await reset("Online", "T", { timestamp: 5 })).status, 200);
  await reset("G", "T", { queueId: 1, offset: 3 });
  assertEquals(resets, [
    ["G", "T", 5, undefined, undefined],
    ["Online", "T", 5, undefined, undefined],
    ["G", "T", -1, 1, 3],
  ]);
  for (
    const [place, field] of [
      [{}, "timestamp"],
      [{ timestamp: 1, queueId: 1, offset: 1 }, "timestamp"],
      [{ offset: 1 }, "queueId"],
    ] as const
  ) {
    const refused = await reset("G", "T", place);
    assertEquals([refused.status, refused.body.errors[0].field], [400, field]);
  }
});

test("POST /admin/groups/:group/clone-offset copies what there is", async () => {
  const { ask, resets } = fakeApp();
  for (const name of ["G", "Copy"]) {
    await ask("PUT", `/admin/groups/${name}`, {});
  }
  const clone = (source: string, topic?: string) =>
    ask("POST", "/admin/groups/Copy/clone-offset", { source, topic });
  assertEquals((await clone("G", "T")).status, 200);
  const outcomes = await Promise.all([
    clone("Copy"),
    clone("None"),
    clone("G", "U"),
  ]);
  assertEquals(
    outcomes.map((it) => [it.status, it.body.errors[0].field]),
    [[400, "source"], [404, "source"], [404, "source"]],
  );
  assertEquals(resets, [["Copy", "G", "T"]]);
});

test("DELETE /admin/groups/:group keeps the system's groups", async () => {
  const { ask } = fakeApp();
  await ask("PUT", "/admin/groups/TOOLS_CONSUMER", {});
  const kept = await ask("DELETE", "/admin/groups/TOOLS_CONSUMER");
  assertEquals([kept.status, kept.body.errors[0].field], [400, "group"]);
  assertEquals((await ask("DELETE", "/admin/groups/None")).status, 404);
});

const SENTENCES: readonly [path: string, body: unknown, message: string][] = [
  ["/admin/topics/T", { readQueueNums: "8" }, "give a number"],
  ["/admin/topics/T", { readQueueNums: 1.5 }, "give a whole number"],
  ["/admin/topics/T", { readQueueNums: 0 }, "give 1 or more"],
  ["/admin/topics/T", { perm: 9 }, "give 7 or less"],
  ["/admin/topics/T", { order: 1 }, "give true or false"],
  ["/admin/topics/T", { order: true, colour: 1 }, "there is no such field"],
  ["/admin/topics/T", [], "give a JSON object"],
  [
    "/admin/topics/T",
    { topicFilterType: "X" },
    "give one of SINGLE_TAG, MULTI_TAG",
  ],
  ["/admin/topics/T/messages", {}, "missing; give a text"],
  [
    "/admin/topics/T/messages",
    { body: "", tag: "" },
    "give at least 1 character",
  ],
  [
    "/admin/topics/T/messages",
    { body: "", keys: ["a b"] },
    "give a key without spaces",
  ],
  [
    "/admin/config",
    { listenPort: {} },
    "give a text, a number, true or false",
  ],
];

test("errors are sentences for people", async () => {
  const { ask } = fakeApp();
  for (const [path, body, message] of SENTENCES) {
    const method = path.endsWith("messages")
      ? "POST"
      : path.endsWith("config")
      ? "PATCH"
      : "PUT";
    const answer = await ask(method, path, body);
    assertEquals(answer.body.errors, [
      { field: answer.body.errors[0].field, message },
    ]);
  }
  for (const queueId of ["x", "1.5", "", "1e3", "-1", "0x1"]) {
    const path = `/admin/messages?topic=T&queueId=${queueId}&offset=0`;
    const answer = await ask("GET", path);
    assertEquals(answer.status, 400);
    assertEquals(answer.body.errors, [
      { field: "queueId", message: "give a whole number" },
    ]);
  }
});

test("every operation that OpenAPI lists is served", async () => {
  const { ask } = fakeApp();
  const { body } = await ask("GET", "/openapi.json");
  for (const [path, operations] of Object.entries(body.paths)) {
    for (const method of Object.keys(operations as object)) {
      const answer = await ask(
        method.toUpperCase(),
        path.replace("{topic}", "T").replace("{group}", "G"),
        method === "get" || method === "delete" ? undefined : {},
      );
      assert(answer.status !== 501, `${method} ${path}`);
    }
  }
  const query = body.paths["/admin/messages"].get.parameters.find((
    it: { name: string },
  ) => it.name === "queueId");
  assertEquals(query.schema.type, "integer");
});

test("/admin/messages shows text as text and the rest as base64", async () => {
  const { ask, failures } = fakeApp();
  const byId = await ask("GET", "/admin/messages?msgId=abc");
  assertEquals(byId.body.messages[0].body, "hello");
  assertEquals(byId.body.messages[0].encoding, "text");
  const at = await ask("GET", "/admin/messages?topic=T&queueId=0&offset=7");
  assertEquals(at.body.messages[0].queueOffset, 7);
  assertEquals(at.body.messages[0].encoding, "base64");
  assertEquals(at.body.messages[0].body, "AP8=");
  const failed = await ask("GET", "/admin/messages?msgId=boom");
  assertEquals(failed.status, 500);
  assertEquals(failed.body.detail, "It failed: x");
  assertEquals(failures.length, 1);
});

test("adminApp() has a problem for what is not there", async () => {
  const { ask } = fakeApp();
  const missing = await ask("GET", "/admin/nothing");
  assertEquals(missing.status, 404);
  assertEquals(
    missing.body.detail,
    "There is no GET /admin/nothing: see /openapi.json",
  );
  assertEquals((await ask("GET", "/admin/routes")).status, 404);
});

test("adminApp() refuses large bodies and other types", async () => {
  const { ask } = fakeApp();
  const large = await ask("PUT", "/admin/topics/T", "x".repeat(3000), {
    "content-length": "3000",
  });
  assertEquals(large.status, 413);
  assertEquals(large.body.errors, [
    { field: "body", message: "give 2048 bytes or less" },
  ]);
  const form = await ask("PUT", "/admin/topics/T", "a=b", {
    "content-type": "application/x-www-form-urlencoded",
  });
  assertEquals(form.status, 415);
});

test("the dashboard's script is valid JavaScript", async () => {
  const script = (await fakeApp().ask("GET", "/dashboard.js")).body as string;
  new Function(script); // Parses, does not run.
});
