/**
 * SlaveLinks: which acks of a master's links count, and for what.
 *
 * Invariants
 * - One slave is one copy: an earlier link of the same host counts for no wait from the begin of
 *   a later one until it says something again.
 * - A slave that began empty, and any link made after it (it may be the same slave), counts only
 *   for puts behind that begin.
 */
import type { SlaveAck } from "./group_transfer_service.ts";
import type { HALink } from "./ha_link.ts";
import { hostOf } from "./ha_strangers.ts";

/** Hosts remembered; a broker has a few slaves. */
const SLAVE_HOSTS_MAX = 64;

/** A view on the links of one HAService. */
export class SlaveLinks {
  readonly #links: ReadonlySet<HALink>;
  readonly #slaveHosts = new Set<string>();
  /** Null: to be asked again. */
  #acks: readonly number[] | null = null;
  /** Where the last slave began that was empty. */
  #emptySlaveFrom = 0;

  constructor(links: ReadonlySet<HALink>) {
    this.#links = links;
  }

  /** A link has acked: there is a slave at that host. */
  onAcked({ addr, machine }: HALink): void {
    const host = hostOf(addr);
    if (!machine.isProvenSlave || this.#slaveHosts.has(host)) return;
    this.#slaveHosts.add(host);
    if (this.#slaveHosts.size <= SLAVE_HOSTS_MAX) return;
    const [oldest] = this.#slaveHosts;
    this.#slaveHosts.delete(oldest!);
  }

  /** True when a link of that `host:port`'s host has been a slave. */
  wasSlave(addr: string): boolean {
    return this.#slaveHosts.has(hostOf(addr));
  }

  /** True when there was a slave at `host` and is none now. */
  isGoneSlave(host: string): boolean {
    if (!this.#slaveHosts.has(host)) return false;
    for (const { addr, machine } of this.#links) {
      if (machine.isSlave && hostOf(addr) === host) return false;
    }
    return true;
  }

  /** An ack, a state or a link has changed. */
  onChanged(): void {
    this.#acks = null;
  }

  /** A link is in a new state; its first one is its begin. */
  onState(link: HALink): void {
    this.#acks = null;
    const { emptySlaveFrom } = link.machine;
    this.#emptySlaveFrom = Math.max(this.#emptySlaveFrom, emptySlaveFrom);
    if (link.coversFrom !== null) return;
    link.coversFrom = this.#emptySlaveFrom;
    const host = hostOf(link.addr);
    for (const other of this.#links) {
      if (other !== link && hostOf(other.addr) === host) other.machine.doubt();
    }
  }

  /** Ends of the slaves that are alive. */
  get acks(): readonly number[] {
    if (this.#acks !== null) return this.#acks;
    const acks: number[] = [];
    for (const { machine } of this.#links) {
      if (machine.isSlave) acks.push(machine.slaveAckOffset);
    }
    return this.#acks = acks;
  }

  /** What waits may count on. */
  get slaves(): SlaveAck[] {
    const slaves: SlaveAck[] = [];
    for (const { machine, coversFrom } of this.#links) {
      if (!machine.isSlave || machine.isDoubted) continue;
      const { slaveAckOffset } = machine;
      slaves.push({ slaveAckOffset, coversFrom: coversFrom ?? 0 });
    }
    return slaves;
  }
}
