/** Malformed, oversized, truncated and foreign input on every port: it costs its own connection only. */
import { assert, assertEquals } from "@std/assert";
import { connect } from "node:net";
import { test } from "node:test";
import { RawClient } from "../support/raw_client.ts";
import { type Site, withSite } from "../support/site.ts";

const text = (it: string) => new TextEncoder().encode(it);

const JUNK: readonly [string, Uint8Array][] = [
  ["HTTP", text("GET / HTTP/1.1\r\nHost: x\r\n\r\n")],
  [
    "a TLS hello that is none",
    Uint8Array.of(0x16, 3, 1, 0, 9, 1, 0, 0, 5, 3, 3, 1, 2, 3),
  ],
  ["HTTP/2 preface", text("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")],
  ["4 bytes of FF", Uint8Array.of(255, 255, 255, 255)],
  ["SSH", text("SSH-2.0-OpenSSH_9.2\r\n")],
  ["a frame of 2 GiB", Uint8Array.of(0x7f, 255, 255, 255, 0, 0, 0, 1)],
  ["a frame of 17 MiB", Uint8Array.of(1, 16, 0, 0, 0, 0, 0, 1)],
  [
    "a header longer than its frame",
    Uint8Array.of(0, 0, 0, 8, 0, 0, 1, 0, 0, 0, 0, 0),
  ],
  [
    "a header that is no JSON",
    Uint8Array.of(0, 0, 0, 8, 0, 0, 0, 4, 120, 120, 120, 120),
  ],
  [
    "an unknown serialize type",
    Uint8Array.of(0, 0, 0, 8, 9, 0, 0, 4, 123, 125, 32, 32),
  ],
  ["a negative length", Uint8Array.of(0x80, 0, 0, 0, 0, 0, 0, 0)],
];

/** Resolves when the peer closed the connection; fails after `ms`. */
function closedBy(
  address: string,
  bytes: Uint8Array,
  ms: number,
): Promise<void> {
  const [host, port] = address.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host!, () => socket.write(bytes));
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`still open after ${ms} ms`));
    }, ms);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.resume();
  });
}

async function stillServes(site: Site, body: string): Promise<void> {
  const sent = await site.run("produce", "Hello", body);
  assertEquals(sent.code, 0, sent.stderr);
}

test("junk on every port is closed, logged once a kind, and harms nobody", () =>
  withSite(async (site) => {
    const steady = await RawClient.open(site.broker);
    await site.createTopic("Steady");
    for (const name of ["namesrv", "broker", "vip"]) {
      const address = site.server.address(name);
      for (const [kind, bytes] of JUNK) {
        await closedBy(address, bytes, 5_000).catch((error) => {
          throw new Error(`${kind} on ${name}: ${error.message}`);
        });
        const sent = await steady.send("Steady", 0, text(kind));
        assertEquals(sent.code, 0);
      }
    }
    await stillServes(site, "after junk");
    assert(/HTTP/.test(site.server.stderr), site.server.stderr);
    assert(/TLS handshake failed/.test(site.server.stderr), site.server.stderr);
    assert(
      site.server.stderr.split("\n").length < 60,
      "log is not rate-limited",
    );
    const pulled = await steady.pull("g", "Steady", 0, 0);
    assertEquals(pulled.code, 0);
    steady.close();
  }));

test("a frame cut anywhere does not stop the next connection", () =>
  withSite(async (site) => {
    const [host, port] = site.broker.split(":");
    for (let cut = 1; cut < 40; cut += 3) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), host!, () => {
          socket.write(
            Uint8Array.of(0, 0, 0, 100, 0, 0, 0, 60, ...new Uint8Array(cut)),
          );
          socket.destroy();
        });
        socket.on("error", () => {});
        socket.on("close", () => resolve());
      });
    }
    await stillServes(site, "after cuts");
  }));

test("unknown codes answer 3, oneway is never answered, broken headers answer 1", () =>
  withSite(async (site) => {
    await site.createTopic("Codes");
    const client = await RawClient.open(site.broker);
    const unknown = await client.invoke(30_999);
    assertEquals(unknown.code, 3);
    assert(unknown.remark!.includes("30999"), unknown.remark!);
    const noTopic = await client.invoke(310, { a: "g" });
    assertEquals(noTopic.code, 1);
    assert(/\bb\b|topic/.test(noTopic.remark!), noTopic.remark!);
    const proto = await client.invoke(310, JSON.parse('{"__proto__":"x"}'));
    assertEquals(proto.code, 1);
    client.close();
    await stillServes(site, "after codes");
  }));

test("limits answer with RocketMQ's codes and a sentence", () =>
  withSite(async (site) => {
    await site.createTopic("Limits");
    const client = await RawClient.open(site.broker);
    const codeOf = async (
      answer: Promise<{ code: number; remark: string | null }>,
    ) => {
      const { code, remark } = await answer;
      if (code !== 0) {
        assert((remark ?? "").length > 10, `code ${code}: ${remark}`);
      }
      return code;
    };
    const MIB4 = 4 * 1024 * 1024;
    assertEquals(
      await codeOf(client.send("Limits", 0, new Uint8Array(MIB4))),
      0,
    );
    assertEquals(
      await codeOf(client.send("Limits", 0, new Uint8Array(MIB4 + 1))),
      13,
    );
    const properties = `K\u0001${"v".repeat(32_800)}\u0002`;
    assertEquals(
      await codeOf(client.send("Limits", 0, text("x"), properties)),
      13,
    );
    assertEquals(await codeOf(client.send("Limits", 99, text("x"))), 29);
    assertEquals(await codeOf(client.send("bad topic!", 0, text("x"))), 29);
    assertEquals(await codeOf(client.send("t".repeat(128), 0, text("x"))), 29);
    assertEquals(await codeOf(client.send("", 0, text("x"))), 29);
    assertEquals(
      await codeOf(client.send("SCHEDULE_TOPIC_XXXX", 0, text("x"))),
      16,
    );
    assertEquals(await codeOf(client.pull("g", "NoSuchTopic", 0, 0)), 17);
    assertEquals(await codeOf(client.pull("g", "Limits", 99, 0)), 29);
    assertEquals(await codeOf(client.pull("g", "Limits", 0, 77)), 21);
    client.close();
  }));

test("a peer that writes one byte a second costs nobody else anything", () =>
  withSite(async (site) => {
    const [host, port] = site.broker.split(":");
    const slow = connect(Number(port), host!);
    slow.on("error", () => {});
    const timer = setInterval(() => slow.write(Uint8Array.of(0)), 1_000);
    try {
      await stillServes(site, "beside a slow peer");
      const client = await RawClient.open(site.broker);
      assertEquals((await client.send("Hello", 0, text("x"))).code, 0);
      client.close();
    } finally {
      clearInterval(timer);
      slow.destroy();
    }
  }));
