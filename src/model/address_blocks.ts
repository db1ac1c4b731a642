/**
 * AddressBlocks: a list of addresses or CIDR blocks separated by `;` or `,`.
 *
 * IPv4-mapped IPv6 counts as IPv4. Names are not resolved.
 */
import { parseIpAddress } from "./socket_address.ts";

interface AddressBlock {
  readonly address: Uint8Array;
  readonly prefixBits: number;
}

/** One list; an entry that is no address holds nobody. */
export class AddressBlocks {
  readonly #blocks: (AddressBlock | undefined)[];

  constructor(text: string) {
    this.#blocks = entriesOf(text).map(parseBlock);
  }

  /** The first entry that is neither an address nor a block. */
  static invalidEntry(text: string): string | undefined {
    return entriesOf(text).find((it) => parseBlock(it) === undefined);
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  /** `host`: an IP address without port or brackets. */
  has(host: string): boolean {
    const address = parseIpAddress(host);
    if (address === undefined) return false;
    return this.#blocks.some((it) => it !== undefined && contains(it, address));
  }
}

function entriesOf(text: string): string[] {
  return text.split(/[;,]/).map((it) => it.trim()).filter((it) => it !== "");
}

function parseBlock(entry: string): AddressBlock | undefined {
  const slash = entry.indexOf("/");
  const host = slash < 0 ? entry : entry.slice(0, slash);
  const address = parseIpAddress(host.replace(/^\[(.*)\]$/, "$1"));
  if (address === undefined) return undefined;
  const bitsMax = address.length * 8;
  if (slash < 0) return { address, prefixBits: bitsMax };
  const bits = entry.slice(slash + 1);
  const prefixBits = Number(bits);
  if (!/^\d{1,3}$/.test(bits) || prefixBits > bitsMax) return undefined;
  return { address, prefixBits };
}

function contains(block: AddressBlock, address: Uint8Array): boolean {
  if (block.address.length !== address.length) return false;
  for (let index = 0, left = block.prefixBits; left > 0; index++, left -= 8) {
    const mask = left >= 8 ? 0xff : 0xff << (8 - left) & 0xff;
    const differing = block.address[index]! ^ address[index]!;
    if ((differing & mask) !== 0) return false;
  }
  return true;
}
