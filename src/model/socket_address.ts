/**
 * SocketAddress: a host and port as records carry them.
 *
 * | offset | size | type  | field   | note                          |
 * | -----: | ---: | ----- | ------- | ----------------------------- |
 * |      0 | 4/16 | bytes | address | IPv4 or IPv6, network order   |
 * |   4/16 |    4 | i32   | port    |                               |
 */

/** An IP address in network order (4 or 16 bytes) and a port. */
export interface SocketAddress {
  readonly address: Uint8Array;
  readonly port: number;
}

/** Reads `1.2.3.4:10911` or `[::1]:10911`; undefined when it is neither. */
export function parseSocketAddress(text: string): SocketAddress | undefined {
  const colon = text.lastIndexOf(":");
  if (colon < 0) return undefined;
  const port = Number(text.slice(colon + 1));
  if (!Number.isInteger(port) || port < 0 || port > 65_535) return undefined;
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  const address = parseIpAddress(host);
  return address && { address, port };
}

/** Reads dotted IPv4 or any form of IPv6 (IPv4-mapped gives IPv4). */
export function parseIpAddress(host: string): Uint8Array | undefined {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(host);
  if (mapped) return parseIpAddress(mapped[1]!);
  return host.includes(":") ? parseIPv6(host) : parseIPv4(host);
}

function parseIPv4(host: string): Uint8Array | undefined {
  const parts = host.split(".");
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (let index = 0; index < 4; index++) {
    const part = parts[index]!;
    if (!/^\d{1,3}$/.test(part) || Number(part) > 255) return undefined;
    bytes[index] = Number(part);
  }
  return bytes;
}

function parseIPv6(host: string): Uint8Array | undefined {
  const halves = host.split("::");
  if (halves.length > 2) return undefined;
  const groupsOf = (text: string) => text === "" ? [] : text.split(":");
  const head = groupsOf(halves[0]!);
  const tail = halves.length === 2 ? groupsOf(halves[1]!) : [];
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...new Array<string>(missing).fill("0"), ...tail];
  const bytes = new Uint8Array(16);
  for (let index = 0; index < 8; index++) {
    const group = groups[index]!;
    if (!/^[0-9a-f]{1,4}$/i.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes[index * 2] = value >>> 8;
    bytes[index * 2 + 1] = value & 0xff;
  }
  return bytes;
}

/** `1.2.3.4` or `a:b:…` (no brackets). */
export function formatIpAddress(address: Uint8Array): string {
  if (address.length === 4) return address.join(".");
  const groups: string[] = [];
  for (let index = 0; index < 16; index += 2) {
    groups.push(((address[index]! << 8) | address[index + 1]!).toString(16));
  }
  return groups.join(":");
}

/** `1.2.3.4:10911` or `[a:b:…]:10911`. */
export function formatSocketAddress(it: SocketAddress): string {
  const host = formatIpAddress(it.address);
  return it.address.length === 4
    ? `${host}:${it.port}`
    : `[${host}]:${it.port}`;
}
