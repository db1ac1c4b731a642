/**
 * Offset message id: upper-case hex of where a record lies (reference 3.7).
 *
 * | offset | size | type  | field     | note                          |
 * | -----: | ---: | ----- | --------- | ----------------------------- |
 * |      0 | 4/16 | bytes | address   | store host, IPv4 or IPv6      |
 * |   4/16 |    4 | i32   | port      | store host                    |
 * |   8/20 |    8 | i64   | phyOffset | CommitLog offset              |
 *
 * 32 hex characters for IPv4, 56 for IPv6.
 */
import type { SocketAddress } from "./socket_address.ts";

const TWO_32 = 4_294_967_296;

const TWO_16 = 65_536;
const BYTE_HEX = Array.from({ length: 256 }, (_, byte) => hex(byte, 2));

/** All but the last four digits of the last id: most ids that follow share them. */
let lastHost: SocketAddress | undefined;
let lastBlock = -1;
let lastPrefix = "";

/** The id of the record at `phyOffset`. */
export function encodeMessageId(
  storeHost: SocketAddress,
  phyOffset: number,
): string {
  const block = Math.floor(phyOffset / TWO_16);
  if (storeHost !== lastHost || block !== lastBlock) {
    lastPrefix = hostHex(storeHost) + hex(block, 12);
    lastHost = storeHost;
    lastBlock = block;
  }
  const rest = phyOffset - block * TWO_16;
  return lastPrefix + BYTE_HEX[rest >>> 8]! + BYTE_HEX[rest & 0xff]!;
}

/** Where the record of `text` lies; undefined when it is no message id. */
export function decodeMessageId(
  text: string,
): { storeHost: SocketAddress; phyOffset: number } | undefined {
  if (text.length !== 32 && text.length !== 56) return undefined;
  if (!/^[0-9a-fA-F]+$/.test(text)) return undefined;
  const addressSize = text.length === 32 ? 4 : 16;
  const address = new Uint8Array(addressSize);
  for (let index = 0; index < addressSize; index++) {
    address[index] = Number.parseInt(text.slice(index * 2, index * 2 + 2), 16);
  }
  const wordAt = (at: number) => Number.parseInt(text.slice(at, at + 8), 16);
  const port = wordAt(addressSize * 2);
  const phyOffset = wordAt(addressSize * 2 + 8) * TWO_32 +
    wordAt(addressSize * 2 + 16);
  if (!Number.isSafeInteger(phyOffset) || port > 0x7fff_ffff) return undefined;
  return { storeHost: { address, port }, phyOffset };
}

/** Why `text` is no message id, to end a sentence; undefined when it is one. */
export function messageIdProblem(text: string): string | undefined {
  if (decodeMessageId(text) !== undefined) return undefined;
  if (!/^[0-9a-fA-F]{32}([0-9a-fA-F]{24})?$/.test(text)) {
    return "it is no offset id (32 or 56 hex digits, the last 16 a place in the log)";
  }
  const isPlaceWrong = Number.parseInt(text.slice(-16), 16) >= 2 ** 53;
  return isPlaceWrong
    ? "it is an offset id (the last 16 hex digits are a place in the log) of a place behind 2^53 - 1, where no log gets to"
    : "it is no offset id (the 8 hex digits before the last 16 are a port)";
}

function hostHex(host: SocketAddress): string {
  let text = "";
  for (const byte of host.address) text += BYTE_HEX[byte]!;
  return text + hex(host.port, 8);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0").toUpperCase();
}
