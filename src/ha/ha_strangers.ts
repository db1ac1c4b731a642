/** HAStrangers: keeps out who is not in haAllowedPeers, and says so once a minute. */
import type { Logger } from "../io/logger.ts";
import { HAPeers } from "./ha_peers.ts";

/** Between two lines: a stranger may knock often. */
const LINE_INTERVAL_MS = 60_000;

/** The door of the replication port. */
export class HAStrangers {
  /** Connections refused so far. */
  refusedCount = 0;
  readonly #logger: Logger;
  #peers: HAPeers;
  #nextLineMs = 0;

  constructor(haAllowedPeers: string, logger: Logger) {
    this.#peers = new HAPeers(haAllowedPeers);
    this.#logger = logger;
  }

  reconfigure(haAllowedPeers: string): void {
    this.#peers = new HAPeers(haAllowedPeers);
  }

  /** True for the `host:port` of a stranger. */
  isStranger(address: string): boolean {
    return !this.#peers.allows(hostOf(address));
  }

  /** A stranger has been turned away. */
  onRefused(address: string, nowMs: number): void {
    this.refusedCount++;
    if (nowMs < this.#nextLineMs) return;
    this.#nextLineMs = nowMs + LINE_INTERVAL_MS;
    this.#logger.warn(
      `${address} may not connect to the replication port: it is not in haAllowedPeers`,
    );
  }
}

/** The host of `host:port`, without brackets. */
export function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
}
