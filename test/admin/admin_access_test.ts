import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { isSameText } from "../../src/base/same_text.ts";
import { fakeApp } from "./fake_facade.ts";

const TOKEN = "0123456789abcdef";

test("a token is asked for everywhere but on probes and the page", async () => {
  const { ask } = fakeApp({ access: { token: TOKEN } });
  for (const path of ["/livez", "/readyz", "/", "/dashboard.js"]) {
    assertEquals((await ask("GET", path)).status, 200, path);
  }
  for (const path of ["/admin/ha", "/metrics", "/openapi.json", "/x"]) {
    assertEquals((await ask("GET", path)).status, 401, path);
  }
  const bad = { authorization: `Bearer ${TOKEN}x` };
  assertEquals((await ask("GET", "/admin/ha", undefined, bad)).status, 401);
  const good = { authorization: `Bearer ${TOKEN}` };
  assertEquals((await ask("GET", "/admin/ha", undefined, good)).status, 200);
});

test("isSameText() compares whole tokens", () => {
  assertEquals(isSameText("", ""), true);
  assertEquals(isSameText("a", "ab"), false);
  assertEquals(isSameText("ab", "a"), false);
  assertEquals(isSameText("ab", "ac"), false);
  assertEquals(isSameText("ab", "ab"), true);
});

const HOSTS: readonly [url: string, status: number][] = [
  ["http://127.0.0.1:10913/admin/ha", 200],
  ["http://localhost:10913/admin/ha", 200],
  ["http://[::1]:10913/admin/ha", 200],
  ["http://10.0.0.5:10913/admin/ha", 200],
  ["http://evil.example:10913/admin/ha", 403],
  ["http://127.0.0.1.evil.example/admin/ha", 403],
];

for (const [url, status] of HOSTS) {
  test(`without a token ${url} answers ${status}`, async () => {
    assertEquals((await fakeApp().app.request(url)).status, status);
  });
}

test("a name is fine for those who have the token", async () => {
  const { app } = fakeApp({ access: { token: TOKEN } });
  const answer = await app.request("http://broker.example/admin/ha", {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  assertEquals(answer.status, 200);
});

const ORIGINS: readonly [headers: Record<string, string>, status: number][] = [
  [{}, 404],
  [{ origin: "http://127.0.0.1:10913" }, 404],
  [{ origin: "http://127.0.0.1:8080" }, 403],
  [{ origin: "http://evil.example" }, 403],
  [{ origin: "null" }, 403],
  [{ "sec-fetch-site": "cross-site" }, 403],
  [{ "sec-fetch-site": "same-origin" }, 404],
];

for (const [headers, status] of ORIGINS) {
  test(`a change with ${JSON.stringify(headers)} answers ${status}`, async () => {
    const { ask } = fakeApp();
    const answer = await ask("DELETE", "/admin/topics/T", undefined, headers);
    assertEquals(answer.status, status);
  });
}
