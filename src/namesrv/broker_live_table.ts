/**
 * BrokerLiveTable: which brokers live, by address and by connection.
 *
 * Invariants
 * - An entry belongs to exactly one connection: the last one its broker spoke over.
 */
import type { DataVersion } from "../model/data_version.ts";

/** One living broker. */
export interface BrokerLiveInfo {
  readonly clusterName: string;
  readonly brokerName: string;
  readonly brokerAddr: string;
  readonly brokerId: number;
  readonly haServerAddr: string;
  readonly dataVersion: DataVersion;
  readonly heartbeatTimeoutMs: number;
  readonly connectionId: number;
  /** When its last word came. */
  readonly lastUpdateMs: number;
}

/** Living brokers by (cluster, address). */
export class BrokerLiveTable {
  readonly #byKey = new Map<string, BrokerLiveInfo>();
  readonly #keysByConnection = new Map<number, Set<string>>();

  get size(): number {
    return this.#byKey.size;
  }

  get(clusterName: string, brokerAddr: string): BrokerLiveInfo | undefined {
    return this.#byKey.get(keyOf(clusterName, brokerAddr));
  }

  /** Adds or replaces; the entry moves to `info.connectionId`. */
  set(info: BrokerLiveInfo): void {
    const key = keyOf(info.clusterName, info.brokerAddr);
    const old = this.#byKey.get(key);
    if (old !== undefined && old.connectionId !== info.connectionId) {
      this.#leaveConnection(old.connectionId, key);
    }
    this.#byKey.set(key, info);
    const keys = this.#keysByConnection.get(info.connectionId);
    if (keys === undefined) {
      this.#keysByConnection.set(info.connectionId, new Set([key]));
    } else keys.add(key);
  }

  delete(info: BrokerLiveInfo): void {
    const key = keyOf(info.clusterName, info.brokerAddr);
    const current = this.#byKey.get(key);
    if (current === undefined) return;
    this.#byKey.delete(key);
    this.#leaveConnection(current.connectionId, key);
  }

  /** The entries that belong to a connection now. */
  ofConnection(connectionId: number): BrokerLiveInfo[] {
    const keys = this.#keysByConnection.get(connectionId) ?? [];
    return [...keys].map((it) => this.#byKey.get(it)!);
  }

  /** The entries that have been silent for longer than their time-out. */
  expired(nowMs: number): BrokerLiveInfo[] {
    return [...this.#byKey.values()].filter((it) =>
      it.lastUpdateMs + it.heartbeatTimeoutMs < nowMs
    );
  }

  #leaveConnection(connectionId: number, key: string): void {
    const keys = this.#keysByConnection.get(connectionId);
    if (keys === undefined) return;
    keys.delete(key);
    if (keys.size === 0) this.#keysByConnection.delete(connectionId);
  }
}

/** Neither part may hold a control character, so the key is unique. */
function keyOf(clusterName: string, brokerAddr: string): string {
  return `${clusterName}\u0000${brokerAddr}`;
}
