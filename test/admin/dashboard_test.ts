/** The dashboard's script against a DOM of a few lines and the app itself. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { fakeApp } from "./fake_facade.ts";

class FakeElement {
  children: FakeElement[] = [];
  hidden = true;
  className = "";
  value = "";
  #text = "";
  readonly listeners = new Map<string, (event: unknown) => void>();

  get textContent(): string {
    return this.#text + this.children.map((it) => it.textContent).join(" ");
  }

  set textContent(text: string) {
    this.#text = text;
    this.children = [];
  }

  append(...children: FakeElement[]): void {
    this.children.push(...children);
  }

  replaceChildren(...children: FakeElement[]): void {
    this.#text = "";
    this.children = children;
  }

  addEventListener(name: string, run: (event: unknown) => void): void {
    this.listeners.set(name, run);
  }
}

function open(token = "") {
  const { ask, app, topics } = fakeApp({ access: { token } });
  const elements = new Map<string, FakeElement>();
  const byId = (id: string) => {
    if (!elements.has(id)) elements.set(id, new FakeElement());
    return elements.get(id)!;
  };
  const stored = new Map<string, string>();
  let idle = Promise.withResolvers<void>();
  const run = async () => {
    const script = (await ask("GET", "/dashboard.js")).body as string;
    const start = new Function(
      "document",
      "fetch",
      "sessionStorage",
      "setTimeout",
      script,
    );
    start(
      {
        getElementById: byId,
        createElement: () => new FakeElement(),
      },
      (path: string, init: RequestInit) =>
        app.request(`http://127.0.0.1:10913${path}`, init),
      {
        getItem: (key: string) => stored.get(key) ?? null,
        setItem: (key: string, value: string) => stored.set(key, value),
      },
      () => idle.resolve(),
    );
  };
  return {
    byId,
    run,
    topics,
    /** Until the script waits for its next round. */
    round: async () => {
      await idle.promise;
      idle = Promise.withResolvers();
    },
  };
}

test("the dashboard shows state, store and topics", async () => {
  const { byId, run, round, topics } = open();
  topics.set("<b>T</b>", {
    topicName: "<b>T</b>",
    readQueueNums: 4,
    writeQueueNums: 4,
    perm: 6,
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: 0,
    order: false,
    attributes: {},
  });
  await run();
  await round();
  assertEquals(byId("error").hidden, true, byId("error").textContent);
  assertEquals(byId("main").hidden, false);
  assertEquals(byId("state").textContent, "ASYNC_MASTER: alone");
  assertEquals(byId("identity").textContent, "DefaultCluster / broker-a / 0");
  assert(byId("ha").textContent.includes("7,340,032"));
  assert(byId("ha").textContent.includes("unknown"), "null is no number");
  assert(byId("store").textContent.includes("/s"));
  assert(byId("topics").textContent.includes("<b>T</b> 4 4 6"));
  assert(byId("slaves").textContent.includes("No slave"));
});

test("the dashboard asks for a token", async () => {
  const token = "0123456789abcdef";
  const { byId, run, round } = open(token);
  await run();
  await eventually(() => !byId("login").hidden);
  assertEquals(byId("main").hidden, true);
  byId("token").value = token;
  byId("login").listeners.get("submit")!({ preventDefault() {} });
  await round();
  assertEquals(byId("login").hidden, true);
  assertEquals(byId("main").hidden, false);
});
