/**
 * The PROXY protocol, versions 1 and 2: what a load balancer sends first, so that the server
 * knows whose connection it hands on (haproxy.org, "The PROXY protocol").
 *
 * Version 1 is one line: `PROXY TCP4|TCP6 SOURCE DESTINATION SOURCEPORT DESTINATIONPORT\r\n`, or
 * `PROXY UNKNOWN …\r\n`, at most 107 bytes. Version 2:
 *
 * | offset | size | type  | field     | note                                             |
 * | -----: | ---: | ----- | --------- | ------------------------------------------------ |
 * |      0 |   12 | bytes | signature | 0d 0a 0d 0a 00 0d 0a 51 55 49 54 0a              |
 * |     12 |    1 | u8    | version   | high half: 2; low half: 0 LOCAL, 1 PROXY         |
 * |     13 |    1 | u8    | family    | 0x11 TCP over IPv4, 0x21 over IPv6, else unknown |
 * |     14 |    2 | u16   | length    | of what follows, addresses and TLVs              |
 * |     16 | 4/16 | bytes | source    | address                                          |
 * |        | 4/16 | bytes | target    | address                                          |
 * |        |    2 | u16   | port      | of the source                                    |
 * |        |    2 | u16   | port      | of the target                                    |
 * |        |      | bytes | TLVs      | not looked at                                    |
 */
import {
  formatSocketAddress,
  parseIpAddress,
} from "../model/socket_address.ts";

/** Bytes that begin like a PROXY header and are none that can be read. */
export class ProxyHeaderError extends Error {
  override readonly name = "ProxyHeaderError";
}

/** What the first bytes of a connection are. */
export type ProxyHeader =
  | { readonly kind: "none" }
  /** They may become one. */
  | { readonly kind: "more" }
  | {
    readonly kind: "header";
    /** Bytes of the header. */
    readonly size: number;
    /** `host:port` of who connected to the load balancer; null when it does not say. */
    readonly source: string | null;
  };

const V1_PREFIX = Uint8Array.from("PROXY ", (it) => it.charCodeAt(0));
const V1_SIZE_MAX = 107;
const V2_SIGNATURE = Uint8Array.of(
  ...[0x0d, 0x0a, 0x0d, 0x0a, 0, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a],
);
const V2_FIXED_SIZE = 16;
/** Addresses and a load balancer's TLVs; certificates of clients do not belong here. */
const V2_LENGTH_MAX = 4096;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;

const NONE: ProxyHeader = { kind: "none" };
const MORE: ProxyHeader = { kind: "more" };

/** Looks at all bytes since the connection began. Throws ProxyHeaderError. */
export function readProxyHeader(bytes: Uint8Array): ProxyHeader {
  if (bytes.length === 0) return MORE;
  const signature = bytes[0] === V1_PREFIX[0] ? V1_PREFIX : V2_SIGNATURE;
  const known = Math.min(bytes.length, signature.length);
  for (let index = 0; index < known; index++) {
    if (bytes[index] !== signature[index]) return NONE;
  }
  if (known < signature.length) return MORE;
  return signature === V1_PREFIX ? readV1(bytes) : readV2(bytes);
}

function readV1(bytes: Uint8Array): ProxyHeader {
  const end = bytes.subarray(0, V1_SIZE_MAX).indexOf(0x0a);
  if (end < 0) {
    if (bytes.length < V1_SIZE_MAX) return MORE;
    throw new ProxyHeaderError(
      `its line does not end within ${V1_SIZE_MAX} bytes`,
    );
  }
  if (bytes[end - 1] !== 0x0d) {
    throw new ProxyHeaderError("its line does not end in CR and LF");
  }
  const line = String.fromCharCode(...bytes.subarray(0, end - 1));
  return { kind: "header", size: end + 1, source: v1Source(line) };
}

function v1Source(line: string): string | null {
  const [, family, source, target, sourcePort, targetPort, ...rest] = line
    .split(" ");
  if (family === "UNKNOWN") return null;
  if (family !== "TCP4" && family !== "TCP6") {
    throw new ProxyHeaderError("its family is none of TCP4, TCP6 and UNKNOWN");
  }
  if (targetPort === undefined || rest.length > 0) {
    throw new ProxyHeaderError("its line needs two addresses and two ports");
  }
  v1Address(family, target!);
  v1Port(targetPort);
  return formatSocketAddress({
    address: v1Address(family, source!),
    port: v1Port(sourcePort!),
  });
}

function v1Address(family: "TCP4" | "TCP6", text: string): Uint8Array {
  const address = parseIpAddress(text);
  if (address === undefined || text.includes(":") !== (family === "TCP6")) {
    throw new ProxyHeaderError(`its addresses do not fit ${family}`);
  }
  return address;
}

function v1Port(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new ProxyHeaderError("its ports are not from 0 to 65535");
}

function readV2(bytes: Uint8Array): ProxyHeader {
  if (bytes.length < V2_FIXED_SIZE) return MORE;
  const version = bytes[12]! >> 4;
  const command = bytes[12]! & 0xf;
  if (version !== 2 || command > 1) {
    throw new ProxyHeaderError(
      `its version ${version} or command ${command} is unknown`,
    );
  }
  const length = bytes[14]! << 8 | bytes[15]!;
  if (length > V2_LENGTH_MAX) {
    throw new ProxyHeaderError(
      `it announces ${length} bytes, more than ${V2_LENGTH_MAX}`,
    );
  }
  const size = V2_FIXED_SIZE + length;
  if (bytes.length < size) return MORE;
  const body = bytes.subarray(V2_FIXED_SIZE, size);
  const source = command === 1 ? v2Source(bytes[13]!, body) : null;
  return { kind: "header", size, source };
}

function v2Source(family: number, body: Uint8Array): string | null {
  if (family !== TCP_OVER_IPV4 && family !== TCP_OVER_IPV6) return null;
  const size = family === TCP_OVER_IPV4 ? 4 : 16;
  if (body.length < 2 * size + 4) {
    throw new ProxyHeaderError("it is too short for its addresses");
  }
  return formatSocketAddress({
    address: withoutMapping(body.slice(0, size)),
    port: body[2 * size]! << 8 | body[2 * size + 1]!,
  });
}

/** An IPv4-mapped address as IPv4: white lists mean both. */
function withoutMapping(address: Uint8Array): Uint8Array {
  const isMapped = address.length === 16 &&
    address.subarray(0, 10).every((it) => it === 0) &&
    address[10] === 0xff && address[11] === 0xff;
  return isMapped ? address.subarray(12) : address;
}
