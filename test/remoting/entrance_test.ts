// What connections bring before their first frame; TLS itself is a double here.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "node:test";
import type { TlsContext } from "../../src/io/tls.ts";
import { createResponse } from "../../src/protocol/remoting_command.ts";
import type { ServerTls } from "../../src/remoting/entrance/tls_ports.ts";
import type { RemotingServerOptions } from "../../src/remoting/remoting_options.ts";
import {
  concat,
  type RawPeer,
  RemotingRig,
  requestFrame,
  settle,
} from "./remoting_rig.ts";

const ECHO = 1000;
const PROXY = new TextEncoder().encode(
  "PROXY TCP4 10.9.8.7 10.0.0.1 4711 1\r\n",
);
const HELLO = Uint8Array.of(0x16, 3, 1);

/** "Encryption" that turns every bit, after a hello of three bytes. */
function turned(bytes: Uint8Array): Uint8Array {
  return bytes.map((it) => it ^ 0xff);
}

const turningTls: TlsContext = {
  secure(plain, events, handshake) {
    let hello = 0;
    return {
      localAddress: plain.localAddress,
      remoteAddress: plain.remoteAddress,
      get queuedBytes() {
        return plain.queuedBytes;
      },
      write: (bytes) => plain.write(turned(bytes)),
      pause: () => plain.pause(),
      resume: () => plain.resume(),
      close: () => plain.close(),
      terminate: () => plain.terminate(),
      plainEvents: {
        onData(bytes) {
          const part = Math.min(HELLO.length - hello, bytes.length);
          for (let at = 0; at < part; at++) {
            if (bytes[at] === HELLO[hello++]) continue;
            handshake.onFailed("that is no hello");
            return plain.close();
          }
          if (part > 0 && hello === HELLO.length) handshake.onSecured();
          if (bytes.length > part) events.onData(turned(bytes.subarray(part)));
        },
        onDrain: () => events.onDrain(),
        onClose: (reason) => events.onClose(reason),
      },
    };
  },
};

async function rigOf(
  tls: ServerTls | undefined,
  options: Partial<RemotingServerOptions> = {},
): Promise<RemotingRig> {
  const rig = new RemotingRig(
    [[ECHO, ({ connection }) => {
      const response = createResponse(0);
      response.remark = connection.remoteAddress;
      return response;
    }]],
    options,
    tls,
  );
  return await rig.listen();
}

const permissive: ServerTls = { isEnforced: false, context: () => turningTls };
const enforcing: ServerTls = { isEnforced: true, context: () => turningTls };
const lazy: ServerTls = {
  isEnforced: false,
  context: () => Promise.resolve(turningTls),
};
const PROXIED = { proxyProtocolPeers: "127.0.0.0/8" };

async function send(peer: RawPeer, bytes: Uint8Array, step = bytes.length) {
  for (let at = 0; at < bytes.length; at += step) {
    peer.connection.write(bytes.subarray(at, at + step));
    await settle();
  }
}

/** What the server calls the peer, by a plain answer. */
function plainRemark(peer: RawPeer): string | null | undefined {
  return peer.answers()[0]?.remark;
}

function lastLine(rig: RemotingRig): string {
  return rig.logger.lines.at(-1)?.message ?? "";
}

describe("Entrance", () => {
  for (const step of [1, 7, 1000]) {
    it(`takes a PROXY header and TLS in pieces of ${step}`, async () => {
      const rig = await rigOf(permissive, PROXIED);
      const plain = await rig.peer();
      await send(plain, requestFrame(ECHO, 1), step);
      assertEquals(plainRemark(plain), plain.connection.localAddress);
      const proxied = await rig.peer();
      await send(proxied, concat([PROXY, requestFrame(ECHO, 1)]), step);
      assertEquals(plainRemark(proxied), "10.9.8.7:4711");
      for (const head of [[HELLO], [PROXY, HELLO]]) {
        const secret = await rig.peer();
        const frame = turned(requestFrame(ECHO, 1));
        await send(secret, concat([...head, frame]), step);
        const answer = concat(secret.received.map(turned));
        assertStringIncludes(
          new TextDecoder().decode(answer),
          head.length === 1 ? secret.connection.localAddress : "10.9.8.7:4711",
        );
      }
      assertEquals(rig.logger.lines, []);
    });
  }

  it("holds what comes while a certificate is made", async () => {
    const rig = await rigOf(lazy);
    const peer = await rig.peer();
    peer.connection.write(HELLO);
    peer.connection.write(turned(requestFrame(ECHO, 1)));
    await settle();
    const answer = new TextDecoder().decode(concat(peer.received.map(turned)));
    assertStringIncludes(answer, peer.connection.localAddress);
  });

  it("enforcing: a plain connection costs itself and one line", async () => {
    const rig = await rigOf(enforcing);
    for (let count = 0; count < 3; count++) {
      const peer = await rig.peer();
      await send(peer, requestFrame(ECHO, 1));
      assertEquals(peer.isClosed, true);
      assertEquals(peer.received, []);
    }
    assertEquals(rig.logger.lines.length, 1);
    assertStringIncludes(lastLine(rig), "tls.server.mode=enforcing");
    const peer = await rig.peer();
    await send(peer, concat([HELLO, turned(requestFrame(ECHO, 1))]));
    assertEquals(peer.received.length, 1);
    assertEquals(rig.server.counters.junkCloses, 3);
  });

  it("takes PROXY headers from those only whom it was told", async () => {
    const rig = await rigOf(permissive, { proxyProtocolPeers: "10.0.0.0/8" });
    const peer = await rig.peer();
    await send(peer, concat([PROXY, requestFrame(ECHO, 1)]));
    assertEquals(peer.isClosed, true);
    assertStringIncludes(lastLine(rig), "PROXY protocol");
  });

  it("a broken PROXY header costs its connection and one line", async () => {
    const rig = await rigOf(undefined, PROXIED);
    const peer = await rig.peer();
    await send(peer, new TextEncoder().encode("PROXY TCP9 a b c d\r\n"));
    assertEquals(peer.isClosed, true);
    assertStringIncludes(
      lastLine(rig),
      "its PROXY header is broken: its family",
    );
    assertEquals(rig.logger.lines.length, 1);
  });

  it("a broken hello costs its connection and one line", async () => {
    const rig = await rigOf(permissive);
    const peer = await rig.peer();
    await send(peer, Uint8Array.of(0x16, 9, 9, 9));
    assertEquals(peer.isClosed, true);
    assertStringIncludes(
      lastLine(rig),
      "TLS handshake failed: that is no hello",
    );
    assertEquals(rig.logger.lines.length, 1);
  });

  for (
    const [what, bytes] of [
      ["TLS handshake", HELLO.subarray(0, 2)],
      ["PROXY header", PROXY.subarray(0, 5)],
    ] as const
  ) {
    it(`an unfinished ${what} has the time of a first frame`, async () => {
      const rig = await rigOf(permissive, {
        ...PROXIED,
        firstFrameTimeoutMs: 3000,
      });
      const peer = await rig.peer();
      for (const byte of bytes) {
        await send(peer, Uint8Array.of(byte));
        await rig.pass(400);
      }
      assertEquals(peer.isClosed, false);
      await rig.pass(3000);
      assertEquals(peer.isClosed, true);
      assertStringIncludes(
        lastLine(rig),
        `its ${what} was not complete within`,
      );
      assertEquals(rig.server.connectionCount, 0);
    });
  }

  it("a connection that is through may be silent as long as any", async () => {
    const rig = await rigOf(permissive, { firstFrameTimeoutMs: 1000 });
    const peer = await rig.peer();
    await send(peer, HELLO);
    await rig.pass(5000);
    assertEquals(peer.isClosed, false);
  });
});
