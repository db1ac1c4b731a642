/**
 * HAStrangers: keeps out who is not in haAllowedPeers, and speaks of whoever is no slave, with a
 * bound on the lines: strangers may knock often.
 */
import {
  FOREIGN_HEAD_SIZE,
  HA_REPORT_PROTOCOL,
  likelyProtocol,
  UNKNOWN_PROTOCOL,
} from "../base/foreign_protocol.ts";
import type { Logger } from "../io/logger.ts";
import { HAPeers } from "./ha_peers.ts";

/** Between two lines of a kind. */
const LINE_INTERVAL_MS = 60_000;
/** Lines in such an interval about links that have not proved to be slaves. */
const LINK_LINES_MAX = 20;
/** Where the header of a remoting frame begins, and how. */
const HEADER_AT = 8;
const JSON_BEGIN = 0x7b;

/** The door of the replication port. */
export class HAStrangers {
  /** Connections refused so far. */
  refusedCount = 0;
  readonly #logger: Logger;
  readonly #nextLineMs = new Map<string, number>();
  #peers: HAPeers;
  #linkLines = 0;
  #linkLinesUntilMs = 0;

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
    this.#warn(
      "refused",
      `${address} may not connect to the replication port: it is not in haAllowedPeers`,
      nowMs,
    );
  }

  /** A connection has ended whose first bytes, `head`, were no report. */
  onJunk(address: string, head: Uint8Array, nowMs: number): void {
    const protocol = foreignProtocolOf(head) ?? likelyProtocol(head);
    this.#warn(
      protocol.startsWith(UNKNOWN_PROTOCOL) ? "junk" : protocol,
      `Closed the connection of ${address} to the replication port: it speaks ${protocol}, not the replication protocol`,
      nowMs,
    );
  }

  /** Somebody asked for bytes beyond the end of the log, and nothing says that it is a slave. */
  onBeyond(address: string, reason: string, nowMs: number): void {
    this.#warn(
      "beyond",
      `Closed the connection of ${address} to the replication port: ${reason}; it is taken for a stranger, unless it comes back with the same`,
      nowMs,
    );
  }

  /** True when a line about a link that has not proved to be a slave may be written. */
  mayTell(nowMs: number): boolean {
    if (nowMs >= this.#linkLinesUntilMs) {
      this.#linkLinesUntilMs = nowMs + LINE_INTERVAL_MS;
      this.#linkLines = 0;
    }
    if (++this.#linkLines === LINK_LINES_MAX) {
      this.#logger.warn(
        "Many links of the replication port come and go; no more is said of them for a minute",
      );
    }
    return this.#linkLines < LINK_LINES_MAX;
  }

  #warn(kind: string, line: string, nowMs: number): void {
    if (nowMs < (this.#nextLineMs.get(kind) ?? 0)) return;
    this.#nextLineMs.set(kind, nowMs + LINE_INTERVAL_MS);
    this.#logger.warn(line);
  }
}

/** First bytes that are worth keeping. */
export const HEAD_SIZE = FOREIGN_HEAD_SIZE;

/** What somebody speaks whose first bytes may read as a report; undefined when nothing fits. */
export function foreignProtocolOf(head: Uint8Array): string | undefined {
  if (head[HEADER_AT] === JSON_BEGIN) {
    return "the remoting protocol of a client (its port is listenPort)";
  }
  const protocol = likelyProtocol(head);
  return protocol === HA_REPORT_PROTOCOL ||
      protocol.startsWith(UNKNOWN_PROTOCOL)
    ? undefined
    : protocol;
}

/** The host of `host:port`, without brackets. */
export function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
}
