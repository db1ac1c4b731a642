/**
 * RemoteAddressPattern: an entry of a white list, as Apache's RemoteAddressStrategyFactory reads
 * it, part by part (of 4 in IPv4, of 8 in IPv6).
 *
 * `*`; an address; `192.168.0.*`, `192.168.*.*`, `192.168.1-9.*`; `10.0.0.{1,2}`; several
 * addresses separated by `,`. A part that is `*` or a range may stand anywhere: Apache takes it
 * at the end only.
 */
import { parseIpAddress } from "../model/socket_address.ts";

/** True for an address in network order (4 or 16 bytes) that the entry means. */
export type RemoteAddressPattern = (address: Uint8Array) => boolean;

/** From and to, both included. */
type Span = readonly [from: number, to: number];

const EVERYBODY: ReadonlySet<string> = new Set([
  "*",
  "*.*.*.*",
  "*:*:*:*:*:*:*:*",
]);

/** Reads one entry; undefined when it is none. */
export function remoteAddressPattern(
  text: string,
): RemoteAddressPattern | undefined {
  if (EVERYBODY.has(text)) return () => true;
  const spans: (readonly Span[])[] = [];
  for (const one of alternatives(text)) {
    const read = spansOf(one.trim());
    if (read === undefined) return undefined;
    spans.push(read);
  }
  return (address) => {
    const parts = partsOf(address);
    return spans.some((it) => isWithin(parts, it));
  };
}

/** `1.2.3.{4,5}` and `1.2.3.4,1.2.3.5` as two. */
function alternatives(text: string): string[] {
  const braces = /^([^{}]+[.:])\{([^{}]+)\}$/.exec(text);
  return braces === null
    ? text.split(",")
    : braces[2]!.split(",").map((it) => braces[1]! + it.trim());
}

function spansOf(text: string): readonly Span[] | undefined {
  const address = parseIpAddress(text);
  if (address !== undefined) {
    return partsOf(address).map((it) => [it, it] as const);
  }
  const isIPv6 = text.includes(":");
  const parts = isIPv6 ? expanded(text) : text.split(".");
  if (parts?.length !== (isIPv6 ? 8 : 4)) return undefined;
  const spans = parts.map((it) => spanOf(it, isIPv6));
  return spans.every((it) => it !== undefined) ? spans : undefined;
}

/** The 8 parts of IPv6, with those that `::` stands for. */
function expanded(text: string): string[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((it) => it === "" ? [] : it.split(":"));
  if (tail === undefined) return head;
  const missing = 8 - head!.length - tail.length;
  if (missing < 1) return undefined;
  return [...head!, ...new Array<string>(missing).fill("0"), ...tail];
}

function spanOf(text: string, isIPv6: boolean): Span | undefined {
  const max = isIPv6 ? 0xffff : 255;
  if (text === "*") return [0, max];
  const pattern = isIPv6
    ? /^([\da-f]{1,4})(?:-([\da-f]{1,4}))?$/i
    : /^(\d{1,3})(?:-(\d{1,3}))?$/;
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const radix = isIPv6 ? 16 : 10;
  const from = Number.parseInt(match[1]!, radix);
  const to = Number.parseInt(match[2] ?? match[1]!, radix);
  return from <= to && to <= max ? [from, to] : undefined;
}

function partsOf(address: Uint8Array): number[] {
  if (address.length === 4) return [...address];
  const parts: number[] = [];
  for (let index = 0; index < address.length; index += 2) {
    parts.push((address[index]! << 8) | address[index + 1]!);
  }
  return parts;
}

function isWithin(parts: readonly number[], spans: readonly Span[]): boolean {
  return parts.length === spans.length &&
    spans.every(([from, to], index) =>
      parts[index]! >= from && parts[index]! <= to
    );
}
