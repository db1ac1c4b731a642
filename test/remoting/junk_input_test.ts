import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import type { Network } from "../../src/io/network.ts";
import { createResponse } from "../../src/protocol/remoting_command.ts";
import { DEFAULT_REMOTING_SERVER_OPTIONS } from "../../src/remoting/remoting_options.ts";
import { RemotingServer } from "../../src/remoting/remoting_server.ts";
import { openRuntime } from "#runtime";
import {
  commandsIn,
  concat,
  ListLogger,
  requestFrame,
} from "./remoting_rig.ts";
import { VirtualClock } from "./virtual_clock.ts";

const LOOPBACK = "127.0.0.1";

const ascii = (it: string) => Uint8Array.from(it, (unit) => unit.charCodeAt(0));

/** Name of the case, bytes, what the log line must say. */
const JUNK: readonly (readonly [string, Uint8Array, string])[] = [
  ["HTTP GET", ascii("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP,"],
  ["HTTP POST", ascii("POST /x HTTP/1.1\r\n\r\n"), "HTTP,"],
  ["HTTP OPTIONS", ascii("OPTIONS * HTTP/1.1\r\n\r\n"), "HTTP,"],
  ["HTTP/2 preface", ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "HTTP/2"],
  ["TLS hello", ascii("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), "TLS"],
  ["SSH banner", ascii("SSH-2.0-OpenSSH_9.2\r\n"), "SSH"],
  ["Redis", ascii("*1\r\n$4\r\nPING\r\n"), "Redis"],
  ["Redis inline", ascii("PING\r\n"), "Redis"],
  [
    "PROXY v1",
    ascii("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n"),
    "PROXY protocol v1",
  ],
  [
    "PROXY v2",
    ascii("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"),
    "PROXY protocol v2",
  ],
  ["AMQP", ascii("AMQP\0\0\x09\x01"), "AMQP"],
  ["MQTT", ascii("\x10\x10\0\x04MQTT\x04\x02\0\x3c\0\0"), "MQTT"],
  ["PostgreSQL", ascii("\0\0\0\x08\x04\xd2\x16\x2f"), "PostgreSQL"],
  ["Kafka", ascii("\0\0\0\x23\0\x12\0\x03\0\0\0\x01\0\x05"), "Kafka"],
  ["SMB", ascii("\0\0\0\x54\xffSMBr\0\0\0"), "SMB"],
  ["HA slave", ascii("\0\0\0\0\0\0\0\0"), "HA slave"],
  ["4 bytes of FF", ascii("\xff\xff\xff\xff"), "first bytes ff ff ff ff"],
  ["2 GiB", ascii("\x7f\xff\xff\xff\0\0\0\x01"), "first bytes 7f ff ff ff"],
  ["17 MiB", ascii("\x01\x10\0\0\0\0\0\x01"), "unknown protocol"],
  [
    "header beyond frame",
    ascii("\0\0\0\x08\0\0\0\x05xxxx"),
    "unknown protocol",
  ],
  ["header no JSON", ascii("\0\0\0\x08\0\0\0\x04xxxx"), "not JSON"],
  ["header of no code", ascii("\0\0\0\x06\0\0\0\x02{}"), "no numeric code"],
  ["binary header cut", ascii("\0\0\0\x08\x01\0\0\x04xxxx"), "4 bytes"],
];

interface Peer {
  readonly received: Uint8Array[];
  readonly closed: Promise<void>;
  write(bytes: Uint8Array): void;
  terminate(): void;
}

async function connect(network: Network, port: number): Promise<Peer> {
  const received: Uint8Array[] = [];
  const closed = Promise.withResolvers<void>();
  const connection = await network.connect({ hostname: LOOPBACK, port }, {
    onData: (bytes) => received.push(bytes.slice()),
    onDrain() {},
    onClose: () => closed.resolve(),
  });
  return {
    received,
    closed: closed.promise,
    write: (bytes) => void connection.write(bytes),
    terminate: () => connection.terminate(),
  };
}

/** Polls a condition that real sockets bring about. */
async function until(condition: () => boolean, what: string): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    assert(turn < 500, `waited too long: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function withServer(
  run: (it: {
    clock: VirtualClock;
    logger: ListLogger;
    server: RemotingServer;
    open(): Promise<Peer>;
  }) => Promise<void>,
): Promise<void> {
  const { network } = openRuntime();
  const clock = new VirtualClock();
  const logger = new ListLogger();
  const server = new RemotingServer(
    { network, clock, logger },
    DEFAULT_REMOTING_SERVER_OPTIONS,
    new Map([[10, () => createResponse(0)]]),
    { onClosed() {} },
  );
  const { port } = await server.listen({ hostname: LOOPBACK, port: 0 });
  try {
    await run({ clock, logger, server, open: () => connect(network, port) });
  } finally {
    await server.stop(0);
  }
}

describe("junk input over real sockets", () => {
  it("closes each foreign protocol with one line that names peer and protocol", () =>
    withServer(async ({ clock, logger, server, open }) => {
      for (const [name, bytes, expected] of JUNK) {
        clock.advance(10_000);
        logger.lines.length = 0;
        const peer = await open();
        peer.write(bytes);
        await peer.closed;
        await until(() => server.connectionCount === 0, name);
        assertEquals(logger.lines.length, 1, name);
        const { message } = logger.lines[0]!;
        assert(/of 127\.0\.0\.1:\d+: /.test(message), message);
        assert(message.includes(expected), `${name}: ${message}`);
        assertEquals(peer.received.length, 0, name);
      }
      assertEquals(server.counters.junkCloses, JUNK.length);
    }));

  it("closes them sent byte by byte, too", () =>
    withServer(async ({ clock, logger, open }) => {
      for (const [name, bytes, expected] of JUNK.slice(0, 6)) {
        clock.advance(10_000);
        logger.lines.length = 0;
        const peer = await open();
        let isClosed = false;
        void peer.closed.then(() => isClosed = true);
        for (const byte of bytes) {
          if (isClosed) break;
          peer.write(Uint8Array.of(byte));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        await peer.closed;
        assertEquals(logger.lines.length, 1, name);
        const [known] = expected.split(/[,/]/);
        assert(logger.lines[0]!.message.includes(known!), name);
      }
    }));

  it("writes one line for a thousand of a kind", () =>
    withServer(async ({ clock, logger, open }) => {
      for (let round = 0; round < 100; round++) {
        const peers = await Promise.all(Array.from({ length: 10 }, open));
        for (const it of peers) it.write(ascii("GET / HTTP/1.1\r\n\r\n"));
        await Promise.all(peers.map((it) => it.closed));
      }
      assertEquals(logger.lines.length, 1);
      clock.advance(10_000);
      const last = await open();
      last.write(ascii("GET / HTTP/1.1\r\n\r\n"));
      await last.closed;
      assertEquals(logger.lines.length, 2);
      assertEquals(logger.lines[1]!.fields["suppressed"], 999);
    }));

  it("closes one byte a second after 30 s and silence after 120 s, serving others", () =>
    withServer(async ({ clock, logger, server, open }) => {
      const [slow, silent, steady] = [await open(), await open(), await open()];
      const frame = requestFrame(10, 1);
      slow.write(frame.slice(0, 1));
      await until(() => server.counters.bytesIn === 1, "first byte");
      let answers = 0;
      for (let second = 1; second <= 120; second++) {
        clock.advance(1000);
        if (second < 29) slow.write(frame.slice(second, second + 1));
        if (second % 10 === 0) {
          steady.write(requestFrame(10, second));
          answers++;
          await until(
            () => commandsIn(steady.received).length === answers,
            "answer",
          );
        }
        server.tick(clock.nowMs());
        if (second === 30) await slow.closed;
      }
      await silent.closed;
      await until(() => server.connectionCount === 1, "both closed");
      assertEquals(logger.lines.length, 1);
      assert(logger.lines[0]!.message.includes("30000 ms"));
    }));

  it("answers what came before the junk, then closes", () =>
    withServer(async ({ logger, open }) => {
      const peer = await open();
      peer.write(
        concat([requestFrame(10, 1), requestFrame(10, 2), ascii("GET / HT")]),
      );
      await peer.closed;
      assertEquals(commandsIn(peer.received).map((it) => it.opaque), [1, 2]);
      assert(logger.lines[0]!.message.includes("broken frame"));
    }));

  it("survives a peer that resets in the middle of a frame", () =>
    withServer(async ({ logger, server, open }) => {
      const frame = requestFrame(10, 1);
      for (let cut = 1; cut < frame.length; cut += 7) {
        const peer = await open();
        peer.write(frame.slice(0, cut));
        peer.terminate();
      }
      await until(() => server.connectionCount === 0, "all closed");
      const peer = await open();
      peer.write(frame);
      await until(() => peer.received.length > 0, "answer");
      assertEquals(logger.lines.length, 0);
    }));
});
