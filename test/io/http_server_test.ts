import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import { HTTP_BODY_SIZE_MAX } from "../../src/runtime/http_limits.ts";
import type { FetchHandler } from "../../src/io/http_server.ts";
import { openRuntime } from "#runtime";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };

/** Serves with `handler` while `use` runs. */
async function withServer(
  handler: FetchHandler,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const listener = await openRuntime().httpServer.serve(LOOPBACK, handler);
  try {
    await use(`http://${listener.hostname}:${listener.port}`);
  } finally {
    await listener.close();
  }
}

const countBody: FetchHandler = async (request) =>
  new Response(String((await request.bytes()).length));

describe("HttpServer", () => {
  it("answers what the handler says", async () => {
    const handler: FetchHandler = (request) =>
      new Response(new URL(request.url).pathname, { status: 201 });
    await withServer(handler, async (url) => {
      const response = await fetch(`${url}/livez`);
      assertEquals(response.status, 201);
      assertEquals(await response.text(), "/livez");
    });
  });

  it("answers 500 without details when the handler throws", async () => {
    const handler: FetchHandler = () => {
      throw new Error("secret");
    };
    await withServer(handler, async (url) => {
      const response = await fetch(url);
      assertEquals(response.status, 500);
      assert(!(await response.text()).includes("secret"));
    });
  });

  it("takes a body up to its limit", async () => {
    await withServer(countBody, async (url) => {
      const body = new Uint8Array(HTTP_BODY_SIZE_MAX);
      const response = await fetch(url, { method: "POST", body });
      assertEquals(await response.text(), String(HTTP_BODY_SIZE_MAX));
    });
  });

  it("refuses a larger one, announced or not", async () => {
    await withServer(countBody, async (url) => {
      const bytes = new Uint8Array(HTTP_BODY_SIZE_MAX + 1);
      const announced = await fetch(url, { method: "POST", body: bytes });
      await announced.body?.cancel();
      assertEquals(announced.status, 413);
      const body = new Blob([bytes]).stream();
      const init = { method: "POST", body, duplex: "half" } as RequestInit;
      const chunked = await fetch(url, init);
      await chunked.body?.cancel();
      assertEquals(chunked.status, 413);
    });
  });

  it("says when the port is in use, and frees it on close()", async () => {
    const { httpServer } = openRuntime();
    const first = await httpServer.serve(LOOPBACK, countBody);
    const at = { hostname: first.hostname, port: first.port };
    const error = await assertRejects(
      () => httpServer.serve(at, countBody),
      Error,
      "the port is in use",
    );
    assertEquals((error as Error & { code?: string }).code, "EADDRINUSE");
    await first.close();
    await (await httpServer.serve(at, countBody)).close();
  });
});
