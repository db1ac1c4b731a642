/** The whole program in this process: standalone, the tools against it, and its end. */
import { assert, assertEquals } from "@std/assert";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { RawClient } from "../support/raw_client.ts";
import { run, startServer } from "./fake_process.ts";

const ANY_PORTS = [
  "--listen-port",
  "0",
  "--namesrv-port",
  "0",
  "--admin-port",
  "0",
];

async function withServer(
  use: (
    server: Awaited<ReturnType<typeof startServer>>,
    store: string,
  ) => Promise<void>,
  ...args: string[]
): Promise<void> {
  const store = mkdtempSync(`${tmpdir()}/pocketmq-test-`);
  try {
    const server = await startServer([
      "standalone",
      "--store",
      store,
      ...ANY_PORTS,
      ...args,
    ]);
    try {
      await use(server, store);
    } finally {
      assertEquals(await server.stop(), 0);
    }
    assert(!existsSync(`${store}/abort`), "stopped cleanly");
    const verified = await run(["store", "verify", store]);
    assertEquals(verified.code, 0, verified.stdout);
  } finally {
    rmSync(store, { recursive: true, force: true });
  }
}

test("standalone serves the tools", () =>
  withServer(async ({ listeners }, store) => {
    const n = ["-n", listeners.namesrv!];
    const ok = async (...args: string[]) => {
      const done = await run([...args, ...n]);
      assertEquals(done.code, 0, `${args.join(" ")}: ${done.stderr}`);
      return done.stdout;
    };
    await ok("topic", "create", "Orders", "--queues", "2");
    const sent = await ok("produce", "Orders", "one", "--key", "k1", "--json");
    const { msgId, offsetMsgId } = JSON.parse(sent);
    await ok("produce", "Orders", "--size", "3", "--tag", "A");
    assertEquals(JSON.parse(await ok("topic", "list", "--json")), ["Orders"]);
    const found = JSON.parse(
      await ok("message", "show", offsetMsgId, "--json"),
    );
    assertEquals(found[0].body, "one");
    const byClientId = JSON.parse(
      await ok("message", "show", msgId, "--topic", "Orders", "--json"),
    );
    assertEquals(byClientId, found);
    const bodies = await ok(
      "consume",
      "Orders",
      "--group",
      "g",
      "--from",
      "first",
      "--count",
      "2",
      "--timeout",
      "20",
    );
    assertEquals(bodies.trim().split("\n").sort(), ["abc", "one"]);
    const lag = JSON.parse(await ok("group", "lag", "g", "--json"));
    assertEquals(lag.totalLag, 0);
    const reset = JSON.parse(
      await ok(
        "group",
        "reset-offset",
        "g",
        "--topic",
        "Orders",
        "--to",
        "first",
        "--json",
      ),
    );
    assertEquals(
      reset.map((it: { offset: number }) => it.offset),
      [0, 0],
    );
    const again = await fetch(
      `http://${listeners.admin}/admin/groups/g/reset-offset`,
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ topic: "Orders", timestamp: -1 }),
      },
    );
    assertEquals([again.status, (await again.json()).totalLag], [200, 0]);
    await moveOffsets(listeners, found[0].queueId, ok);
    await ok("config", "set", "fileReservedTime=5");
    assertEquals(
      await ok("config", "get", "fileReservedTime", "--json"),
      '{"fileReservedTime":"5"}\n',
    );
    const dumped = await run(["store", "dump", store, "--json"]);
    assertEquals(dumped.stdout.trim().split("\n").length, 2);
    const brokerName = JSON.parse(await ok("cluster", "list", "--json"))[0]
      .brokerName;
    assertEquals(
      JSON.parse(await ok("cluster", "status", brokerName, "--json"))
        .brokerVersionDesc,
      JSON.parse(await ok("cluster", "status", listeners.broker!, "--json"))
        .brokerVersionDesc,
    );
    await ok("group", "create", "idle");
    // Nothing was ever committed: that is no lag of 0.
    const idle = JSON.parse(await ok("group", "lag", "idle", "--json"));
    assertEquals(idle.totalLag, null);
    const shown = await ok("group", "lag", "idle");
    assert(shown.endsWith("total lag unknown\n"), shown);
    const seen = await fetch(`http://${listeners.admin}/admin/groups/idle/lag`);
    assertEquals((await seen.json()).totalLag, null);
    for (const [args, sentence] of FAILURES) {
      const { code, stdout, stderr } = await run([...args, ...n]);
      assertEquals([code, stdout], [1, ""], args.join(" "));
      assertEquals(stderr.trim().split("\n").length, 1, stderr);
      assert(stderr.includes(sentence), `"${sentence}" in "${stderr}"`);
      // What was wrong, and behind it what to do.
      const cure = stderr.slice(stderr.indexOf(sentence) + sentence.length);
      assert(/[:;,] [a-z]/.test(cure), `what to do in "${stderr}"`);
    }
    await ok("group", "delete", "idle");
  }));

test("produce waits for the first broker of a name server", async () => {
  const store = mkdtempSync(`${tmpdir()}/pocketmq-test-`);
  const namesrv = await startServer(["namesrv", "--listen-port", "0"]);
  const n = ["-n", namesrv.listeners.namesrv!];
  try {
    const sending = run(["produce", "T", "x", ...n]);
    const making = run(["topic", "create", "U", ...n]);
    const broker = await startServer([
      "broker",
      "--store",
      store,
      ...n,
      ...["--bind", "127.0.0.1", "--listen-port", "0", "--admin-port", "0"],
      ...["--set", "mappedFileSizeCommitLog=16M"],
    ]);
    for (const { code, stderr } of await Promise.all([sending, making])) {
      assertEquals([code, stderr], [0, ""]);
    }
    assertEquals(await broker.stop(), 0);
  } finally {
    await namesrv.stop();
    rmSync(store, { recursive: true, force: true });
  }
});

const CONSUME = ["--group", "g", "--timeout", "1"];

const RESET_QUEUE = ["group", "reset-offset", "g", "--topic", "Orders"]
  .concat("--offset", "0", "--queue");

const FAILURES: readonly [args: readonly string[], sentence: string][] = [
  [["topic", "show", "Nothing"], "Topic Nothing does not exist"],
  [["config", "set", "nope=1"], "has not set nope (no such key"],
  [
    ["config", "set", "listenPort=1234"],
    "has not set listenPort (not changed, since they need a restart and no file keeps them",
  ],
  [["topic", "delete", "Nothing"], "Topic Nothing does not exist"],
  [["group", "lag", "nope"], "Group nope does not exist"],
  [["group", "show", "nope"], "Group nope does not exist"],
  [["group", "show", "idle"], "Group idle exists, but has no member on line"],
  [["group", "delete", "nope"], "Group nope does not exist"],
  [
    ["group", "reset-offset", "nope", "--topic", "Orders", "--to", "first"],
    "Group nope does not exist",
  ],
  [["group", "clone-offset", "nope", "g"], "Group nope does not exist"],
  [["group", "clone-offset", "idle", "g"], "Group idle has no offset in any"],
  [["group", "running", "idle"], "Group idle exists, but has no member"],
  [
    [...RESET_QUEUE, "0", "--broker", "nope"],
    "No broker nope has topic Orders",
  ],
  [[...RESET_QUEUE, "7"], "The queueId 7 is none of topic Orders"],
  [["cluster", "status", "nope"], "No broker is registered as nope"],
  [["message", "query", "Orders", "--key", "no"], "no message with key no"],
  [["message", "query", "Nope", "--key", "no"], "Topic Nope does not exist"],
  [["consume", "Nope", ...CONSUME], "Topic Nope does not exist: waited 1 s"],
  [
    ["consume", "Orders", ...CONSUME, "--count", "3"],
    "of 3 messages came within 1 s",
  ],
  [
    ["consume", "Orders", "--group", "sql", "--sql", "a > 1"],
    "does not support consumer to filter message by SQL92",
  ],
];

/** To an offset of one queue, and a copy for another group, by the tools and over HTTP. */
async function moveOffsets(
  listeners: Record<string, string>,
  queueId: number,
  ok: (...args: string[]) => Promise<string>,
): Promise<void> {
  const one = ["--queue", `${queueId}`, "--offset", "0", "--json"];
  const reset = JSON.parse(
    await ok("group", "reset-offset", "g", "--topic", "Orders", ...one),
  );
  assertEquals(
    reset.map((it: { queueId: number; offset: number }) => [
      it.queueId,
      it.offset,
    ]),
    [[queueId, 0]],
  );
  const lagOf = async (group: string) =>
    JSON.parse(await ok("group", "lag", group, "--json")).totalLag;
  const lag = await lagOf("g");
  assert(lag > 0, `${lag}`);
  await ok("group", "create", "copy");
  const copied = await ok("group", "clone-offset", "g", "copy");
  assertEquals(
    copied,
    `offsets of group g are copied to copy on ${listeners.broker}\n`,
  );
  assertEquals(await lagOf("copy"), lag);
  await ok("group", "reset-offset", "g", "--topic", "Orders", "--to", "last");
  const again = await fetch(
    `http://${listeners.admin}/admin/groups/copy/clone-offset`,
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ source: "g", topic: "Orders" }),
    },
  );
  assertEquals([again.status, (await again.json()).totalLag], [200, 0]);
}

test("standalone answers on its admin port", () =>
  withServer(async ({ listeners }) => {
    const admin = `http://${listeners.admin}`;
    const ready = await run(["health", "--admin", admin]);
    assertEquals([ready.code, ready.stdout], [0, "ready\n"]);
    const put = await fetch(`${admin}/admin/topics/T`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ writeQueueNums: 1, readQueueNums: 1 }),
    });
    assertEquals(put.status, 200, await put.text());
    const sent = await fetch(`${admin}/admin/topics/T/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ body: "hello", keys: ["k"] }),
    });
    assertEquals(sent.status, 201, await sent.clone().text());
    const { msgId, offsetMsgId } = await sent.json();
    const lookUp = async (query: string) => {
      const answer = await fetch(`${admin}/admin/messages?${query}`);
      const { messages, errors } = await answer.json();
      return answer.status === 200
        ? messages[0]
        : [answer.status, ...errors.map((it: { field: string }) => it.field)];
    };
    for (
      const query of [
        `msgId=${offsetMsgId}`,
        `topic=T&msgId=${offsetMsgId}`,
        `topic=T&msgId=${msgId}`,
        "topic=T&key=k",
        "topic=T&queueId=0&offset=0",
      ]
    ) {
      const found = await lookUp(query);
      assertEquals(
        [found.body, found.msgId, found.offsetMsgId],
        ["hello", msgId, offsetMsgId],
        query,
      );
    }
    for (
      const [query, ...expected] of [
        [`msgId=${msgId}`, 404, "msgId", "topic"],
        ["msgId=zz", 404, "msgId", "topic"],
        [`msgId=${offsetMsgId.slice(0, -1)}9`, 404, "msgId", "topic"],
        ["topic=T&msgId=zz", 404, "msgId"],
        [`topic=U&msgId=${msgId}`, 404, "topic"],
        ["topic=U&key=k", 404, "topic"],
        ["topic=T&queueId=99&offset=0", 404, "queueId"],
      ] as const
    ) {
      assertEquals(await lookUp(query), expected, query);
    }
    for (
      const [body, ...expected] of [
        [{ body: "x", queueId: 77 }, 400, "queueId"],
        [{ body: "x".repeat(4 * 1024 * 1024 + 1) }, 400, "body"],
        [{ body: "x".repeat(8 * 1024 * 1024 - 20) }, 413, "body"],
      ] as const
    ) {
      const refused = await fetch(`${admin}/admin/topics/T/messages`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const { errors } = await refused.json();
      assertEquals([refused.status, errors[0].field], expected);
    }
    const ha = await (await fetch(`${admin}/admin/ha`)).json();
    assertEquals([ha.state, ha.master, ha.replicatedOffset], [
      "alone",
      true,
      null,
    ]);
    const config = await (await fetch(`${admin}/admin/config`)).json();
    const port = config.entries.find((it: { key: string }) =>
      it.key === "listenPort"
    );
    assertEquals(port.value, listeners.broker!.split(":")[1]);
    const metrics = await (await fetch(`${admin}/metrics`)).text();
    assert(/rocketmq_messages_in_total\{.*topic="T".*\} 1\n/.test(metrics));
    const refused = await fetch(`${admin}/admin/config`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ adminToken: "0123456789abcdef" }),
    });
    assertEquals(refused.status, 403);
    await refused.body?.cancel();
    const lost = await fetch(`${admin}/admin/config`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ fileReservedTime: 7, listenPort: 1234 }),
    });
    const { detail } = await lost.json();
    assertEquals(lost.status, 409);
    assert(detail.startsWith("Not changed: listenPort needs a restart"));
  }));

test("a slave answers a change on its admin port with 409", async () => {
  const store = mkdtempSync(`${tmpdir()}/pocketmq-test-`);
  const slave = await startServer([
    ...["broker", "--store", store, "--bind", "127.0.0.1"],
    ...["--listen-port", "0", "--admin-port", "0"],
    ...["brokerRole=SLAVE", "brokerId=1", "haMasterAddress=127.0.0.1:1"]
      .flatMap((it) => ["--set", it]),
  ]);
  try {
    const url = `http://${slave.listeners.admin}/admin/topics/T`;
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url, { method: "PUT", headers, body: "{}" });
    const { detail } = await answer.json();
    assertEquals(answer.status, 409);
    assert(detail.startsWith("This broker is a slave"), detail);
  } finally {
    await slave.stop();
    rmSync(store, { recursive: true, force: true });
  }
});

test("standalone tells its name server what it was told of it", () =>
  withServer(
    async ({ listeners }, store) => {
      const client = await RawClient.open(listeners.namesrv!);
      try {
        const { body } = await client.invoke(319);
        const lines = new TextDecoder().decode(body).split("\n");
        for (
          const line of [
            "orderMessageEnable=true",
            "scanNotActiveBrokerInterval=700",
            `kvConfigPath=${store}/namesrv/kvConfig.json`,
            `listenPort=${listeners.namesrv!.split(":")[1]}`,
          ]
        ) assert(lines.includes(line), `${line} in ${lines.join(" ")}`);
      } finally {
        client.close();
      }
    },
    "--set",
    "orderMessageEnable=true",
    "--set",
    "scanNotActiveBrokerInterval=700",
  ));

test("a port in use and a store in use end a second start with 2", () =>
  withServer(async ({ listeners }, store) => {
    const other = mkdtempSync(`${tmpdir()}/pocketmq-test-`);
    const start = async (args: string[], ...includes: string[]) => {
      const done = await run(["standalone", ...args]);
      assertEquals(done.code, 2, done.stderr);
      for (const it of includes) assert(done.stderr.includes(it), done.stderr);
    };
    try {
      for (
        const [flag, name, key] of [
          ["--namesrv-port", "namesrv", "namesrvListenPort"],
          ["--listen-port", "broker", "listenPort"],
          ["--admin-port", "admin", "adminPort"],
        ] as const
      ) {
        const port = listeners[name]!.split(":")[1]!;
        await start(
          ["--store", other, ...ANY_PORTS, flag, port],
          port,
          key,
          "in use",
        );
      }
      // Whether this process may take the lock again is the kernel's choice; another may not.
      assert(existsSync(`${store}/lock`));
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  }));
