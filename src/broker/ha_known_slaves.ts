/**
 * HAKnownSlaves: the slaves that have followed this master since it started, by address; pure.
 * The others hear of them: while one of them is silent, nobody is promoted without force.
 *
 * A broker is who it says to be, `brokerName` and `brokerId`. So a slave that came back at another
 * address is one slave: its former address is left out, once the new one answers with the id that
 * the former one had, the former one does not answer, and it has not answered since the new one
 * came. Two that live at one time are two, whatever ids they have; silence alone proves nothing.
 */

/** Who answered a look at the pair. */
export interface AnsweringBroker {
  readonly address: string;
  readonly role: string;
  readonly brokerName: string;
  readonly brokerId: number;
}

/** One look; monotonic milliseconds. */
export interface LookAtSlaves {
  readonly startedMs: number;
  readonly peers: readonly AnsweringBroker[];
  /** Addresses that were asked and did not answer. */
  readonly silent: readonly string[];
}

/** A slave that has another address. */
export interface MovedSlave {
  readonly brokerId: number;
  readonly from: string;
  readonly to: string;
}

interface Slave {
  readonly cameMs: number;
  brokerId: number | null;
  answeredMs: number;
}

/** Of one run of a master. */
export class HAKnownSlaves {
  readonly #slaves = new Map<string, Slave>();

  constructor(private readonly brokerName: string) {}

  has(address: string): boolean {
    return this.#slaves.has(address);
  }

  /** A slave lives at `address`; false when that was known. */
  add(address: string, nowMs: number): boolean {
    if (this.#slaves.has(address)) return false;
    this.#slaves.set(address, {
      cameMs: nowMs,
      brokerId: null,
      answeredMs: -Infinity,
    });
    return true;
  }

  /** Forgets whatever is none of `addresses`. */
  retain(addresses: readonly string[]): void {
    for (const it of this.#slaves.keys()) {
      if (!addresses.includes(it)) this.#slaves.delete(it);
    }
  }

  /** Everybody was asked; returns those that are forgotten, for they have moved. */
  onLook({ peers, silent, startedMs }: LookAtSlaves): MovedSlave[] {
    const moved: MovedSlave[] = [];
    const answering = peers.filter(({ brokerName, role }) =>
      brokerName === this.brokerName && role === "SLAVE"
    );
    for (const { address, brokerId } of answering) {
      const slave = this.#slaves.get(address);
      if (slave === undefined) continue;
      slave.brokerId = brokerId;
      slave.answeredMs = startedMs;
    }
    for (const from of silent) {
      const to = this.#newAddressOf(from, answering);
      if (to === undefined) continue;
      this.#slaves.delete(from);
      moved.push({ from, to: to.address, brokerId: to.brokerId });
    }
    return moved;
  }

  #newAddressOf(
    from: string,
    answering: readonly AnsweringBroker[],
  ): AnsweringBroker | undefined {
    const former = this.#slaves.get(from);
    if (former === undefined || former.brokerId === null) return undefined;
    return answering.find(({ address, brokerId }) => {
      const { cameMs } = this.#slaves.get(address) ?? { cameMs: -Infinity };
      return brokerId === former.brokerId && cameMs > former.answeredMs;
    });
  }
}
