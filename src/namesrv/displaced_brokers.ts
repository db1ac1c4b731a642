/**
 * DisplacedBrokers: brokers whose id another address took while they lived.
 *
 * Two processes with one name and id would take the id from each other at every
 * registration. The one that came later keeps it: the earlier one is refused on
 * the connection it had, for as long as the later one lives. Started anew (so
 * over another connection) it is the later one.
 */

interface Address {
  readonly clusterName: string;
  readonly brokerAddr: string;
}

interface Displaced extends Address {
  readonly connectionId: number;
  readonly winnerAddr: string;
}

/** At most one entry for each connection and address. */
export class DisplacedBrokers {
  #entries: Displaced[] = [];

  add(loser: Address & { connectionId: number }, winnerAddr: string): void {
    const { clusterName, brokerAddr, connectionId } = loser;
    this.#entries = this.#entries.filter((it) =>
      !isSame(it, loser) && !isSame(it, { clusterName, brokerAddr: winnerAddr })
    );
    this.#entries.push({ clusterName, brokerAddr, connectionId, winnerAddr });
  }

  /** True when `loser`, still on the connection it lost on, lost to `winner`. */
  has(loser: Address, connectionId: number, winner: Address): boolean {
    return this.#entries.some((it) =>
      it.connectionId === connectionId && isSame(it, loser) &&
      it.winnerAddr === winner.brokerAddr
    );
  }

  onConnectionClosed(connectionId: number): void {
    if (this.#entries.length === 0) return;
    this.#entries = this.#entries.filter((it) =>
      it.connectionId !== connectionId
    );
  }

  onWinnerGone(winner: Address): void {
    if (this.#entries.length === 0) return;
    this.#entries = this.#entries.filter((it) =>
      it.clusterName !== winner.clusterName ||
      it.winnerAddr !== winner.brokerAddr
    );
  }
}

function isSame(a: Address, b: Address): boolean {
  return a.clusterName === b.clusterName && a.brokerAddr === b.brokerAddr;
}
