import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { describe, it } from "node:test";
import {
  ProxyHeaderError,
  readProxyHeader,
} from "../../src/protocol/proxy_header.ts";

const V2_SIGNATURE = [0x0d, 0x0a, 0x0d, 0x0a, 0, 0x0d, 0x0a, 0x51, 0x55, 0x49]
  .concat(0x54, 0x0a);

function v1(line: string): Uint8Array {
  return new TextEncoder().encode(line);
}

function v2(
  command: number,
  family: number,
  body: readonly number[],
  announced = body.length,
): Uint8Array {
  return Uint8Array.of(
    ...V2_SIGNATURE,
    ...[command, family, announced >> 8, announced & 0xff],
    ...body,
  );
}

function sourceOf(bytes: Uint8Array): string | null {
  const header = readProxyHeader(bytes);
  assertEquals(header.kind, "header");
  return header.kind === "header" ? header.source : null;
}

function refusal(bytes: Uint8Array): string {
  return assertThrows(() => readProxyHeader(bytes), ProxyHeaderError).message;
}

const octet = fc.integer({ min: 0, max: 255 });
const portNumber = fc.integer({ min: 0, max: 65_535 });
const ipv4 = fc.tuple(octet, octet, octet, octet);
const tlvs = fc.array(octet, { maxLength: 300 });

describe("readProxyHeader", () => {
  it("reads what the protocol's own text shows", () => {
    assertEquals(
      sourceOf(
        v1("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n"),
      ),
      "255.255.255.255:65535",
    );
    assertEquals(
      sourceOf(v1("PROXY TCP6 2001:db8::1 ::1 56324 443\r\n")),
      "[2001:db8:0:0:0:0:0:1]:56324",
    );
    assertEquals(sourceOf(v1("PROXY UNKNOWN\r\n")), null);
    assertEquals(sourceOf(v1("PROXY UNKNOWN ffff::1 ffff::1 1 2\r\n")), null);
    assertEquals(sourceOf(v2(0x20, 0, [])), null); // LOCAL: a health check.
    assertEquals(
      sourceOf(v2(0x21, 0x11, [10, 0, 0, 9, 10, 0, 0, 1, 0xdc, 4, 1, 187])),
      "10.0.0.9:56324",
    );
    assertEquals(sourceOf(v2(0x21, 0x31, Array(216).fill(1))), null); // UNIX.
  });

  it("reads an IPv4-mapped address as IPv4", () => {
    const mapped = [...Array(10).fill(0), 0xff, 0xff, 10, 1, 2, 3];
    const body = [...mapped, ...mapped, 0, 80, 0, 81];
    assertEquals(sourceOf(v2(0x21, 0x21, body)), "10.1.2.3:80");
    assertEquals(
      sourceOf(v1("PROXY TCP6 ::ffff:10.1.2.3 ::1 80 81\r\n")),
      "10.1.2.3:80",
    );
  });

  it("takes every header whole and asks for more at every cut", () => {
    fc.assert(fc.property(
      ipv4,
      ipv4,
      portNumber,
      portNumber,
      tlvs,
      fc.boolean(),
      tlvs,
      (source, target, from, to, extra, isV1, rest) => {
        const header = isV1
          ? v1(
            `PROXY TCP4 ${source.join(".")} ${
              target.join(".")
            } ${from} ${to}\r\n`,
          )
          : v2(0x21, 0x11, [
            ...source,
            ...target,
            ...[from >> 8, from & 0xff, to >> 8, to & 0xff],
            ...extra,
          ]);
        for (let cut = 0; cut < header.length; cut++) {
          assertEquals(readProxyHeader(header.subarray(0, cut)).kind, "more");
        }
        assertEquals(readProxyHeader(Uint8Array.of(...header, ...rest)), {
          kind: "header",
          size: header.length,
          source: `${source.join(".")}:${from}`,
        });
      },
    ));
  });

  it("never mistakes a frame, a TLS hello or HTTP for one", () => {
    for (
      const bytes of [
        Uint8Array.of(0, 0, 1, 0),
        Uint8Array.of(0x16, 3, 1),
        v1("POST / HTTP/1.1\r\n"),
        v1("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        v1("PROXYING"),
        Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a, 1),
      ]
    ) {
      assertEquals(readProxyHeader(bytes).kind, "none");
    }
  });

  it("either reads bytes or says what is wrong with them", () => {
    const start = fc.constantFrom(v1("PROXY "), Uint8Array.of(...V2_SIGNATURE));
    fc.assert(fc.property(start, fc.uint8Array({ maxLength: 200 }), (a, b) => {
      try {
        const header = readProxyHeader(Uint8Array.of(...a, ...b));
        if (header.kind === "header") {
          assertEquals(header.size <= a.length + b.length, true);
        }
      } catch (error) {
        assertEquals(error instanceof ProxyHeaderError, true);
      }
    }));
  });

  it("names what is broken, before it waits for more", () => {
    assertStringIncludes(refusal(v1("PROXY " + "x".repeat(101))), "107 bytes");
    assertStringIncludes(refusal(v1("PROXY TCP4 1.1.1.1\n")), "CR and LF");
    assertStringIncludes(refusal(v1("PROXY UDP4 a b c d\r\n")), "family");
    assertStringIncludes(
      refusal(v1("PROXY TCP4 1.1.1.1 2.2.2.2 3\r\n")),
      "two",
    );
    assertStringIncludes(refusal(v1("PROXY TCP4 ::1 ::1 1 2\r\n")), "TCP4");
    assertStringIncludes(
      refusal(v1("PROXY TCP4 1.1.1.999 1.1.1.1 1 2\r\n")),
      "TCP4",
    );
    assertStringIncludes(
      refusal(v1("PROXY TCP4 1.1.1.1 1.1.1.1 99999 2\r\n")),
      "ports",
    );
    assertStringIncludes(refusal(v2(0x11, 0x11, [])), "version 1");
    assertStringIncludes(refusal(v2(0x25, 0x11, [])), "command 5");
    assertStringIncludes(refusal(v2(0x21, 0x11, [1, 2, 3])), "too short");
    // At once: nothing is kept for a size that somebody announces.
    assertStringIncludes(refusal(v2(0x21, 0x11, [], 65_535)), "65535");
  });
});
