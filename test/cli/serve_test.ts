import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { type RunningServer, serve, strangersOf } from "../../src/cli/serve.ts";
import { ExitCalled, FakeProcess, runtimeOf } from "./fake_process.ts";

const LISTENER = {
  name: "broker",
  bound: "0.0.0.0:10911",
  advertised: "10.0.0.5:10911",
  why: "first address",
} as const;

function open(stop: () => Promise<void> = () => Promise.resolve()) {
  const process = new FakeProcess([]);
  const runtime = runtimeOf(process);
  const context = {
    runtime,
    process,
    startedMs: runtime.clock.monotonicMs(),
    exitCode: 0,
  };
  const calls: string[] = [];
  const server: RunningServer = {
    listeners: [LISTENER],
    stop: () => {
      calls.push("stop");
      return stop();
    },
    reload: () => void calls.push("reload"),
  };
  return { context, process, server, calls };
}

test("serve() announces, reloads on SIGHUP, and stops with 0 on SIGTERM", async () => {
  const { context, process, server, calls } = open();
  const ended = serve(context, false, () => Promise.resolve(server));
  await Promise.resolve();
  process.signal("SIGHUP");
  process.signal("SIGTERM");
  assertEquals(await ended, 0);
  assertEquals(calls, ["reload", "stop"]);
  const [line, ready] = process.stdout.trim().split("\n");
  assert(/^broker +0\.0\.0\.0:10911 +advertised 10\.0\.0\.5:10911/.test(line!));
  assert(/^ready in \d+ ms$/.test(ready!), ready);
});

test("serve() prints one JSON line", async () => {
  const { context, process, server } = open();
  const ended = serve(context, true, () => Promise.resolve(server));
  await Promise.resolve();
  process.signal("SIGINT");
  await ended;
  const { ms, ...rest } = JSON.parse(process.stdout);
  assertEquals(typeof ms, "number");
  assertEquals(rest, {
    ready: true,
    listeners: [{
      name: "broker",
      bound: "0.0.0.0:10911",
      advertised: "10.0.0.5:10911",
    }],
  });
});

test("serve() is forced by a second signal", async () => {
  const { context, process, server } = open(() => new Promise(() => {}));
  void serve(context, false, () => Promise.resolve(server));
  await Promise.resolve();
  process.signal("SIGTERM");
  await assertRejects(
    () => Promise.resolve().then(() => process.signal("SIGTERM")),
    ExitCalled,
  );
  assertEquals(process.exitCodes, [1]);
});

test("serve() a signal during the start stops right after it", async () => {
  const { context, process, server, calls } = open();
  const started = Promise.withResolvers<RunningServer>();
  const ended = serve(context, false, () => started.promise);
  process.signal("SIGTERM");
  started.resolve(server);
  assertEquals(await ended, 0);
  assertEquals([calls, process.stdout], [["stop"], ""]);
});

test("serve() a start that fails is thrown", async () => {
  const { context } = open();
  await assertRejects(
    () => serve(context, false, () => Promise.reject(new Error("no"))),
    Error,
    "no",
  );
});

test("strangersOf() leaves out loopback", () => {
  const at = (bound: string) => ({ ...LISTENER, bound });
  const found = strangersOf(
    [
      "127.0.0.1:1",
      "[::1]:1",
      "localhost:1",
      "0.0.0.0:1",
      "[::]:1",
      "10.0.0.1:1",
    ]
      .map(at),
  );
  assertEquals(found.map((it) => it.bound), [
    "0.0.0.0:1",
    "[::]:1",
    "10.0.0.1:1",
  ]);
});

test("serve() stops and throws when the server cannot go on", async () => {
  const { context, server, calls } = open();
  const failed = Promise.withResolvers<never>();
  const ended = serve(
    context,
    false,
    () => Promise.resolve({ ...server, failed: failed.promise }),
  );
  failed.reject(new Error("the store is gone"));
  await assertRejects(() => ended, Error, "the store is gone");
  assertEquals(calls, ["stop"]);
});
