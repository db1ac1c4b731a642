/** HAPeers: who may connect to the HA port (haAllowedPeers); an empty list lets everyone in. */
import { AddressBlocks } from "../model/address_blocks.ts";

/** One list; an entry that is no address matches nobody. */
export class HAPeers {
  readonly #blocks: AddressBlocks;

  constructor(text: string) {
    this.#blocks = new AddressBlocks(text);
  }

  /** The first entry that is neither an address nor a block. */
  static invalidEntry(text: string): string | undefined {
    return AddressBlocks.invalidEntry(text);
  }

  /** `host`: an IP address without port or brackets. */
  allows(host: string): boolean {
    return this.#blocks.isEmpty || this.#blocks.has(host);
  }
}
