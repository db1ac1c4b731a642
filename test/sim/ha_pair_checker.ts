/** HAPairChecker: what is promised about a pair, looked at from outside. */
import { Buffer } from "node:buffer";
import { assert } from "@std/assert";
import type { HALink } from "../../src/ha/ha_link.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { compareLogs, hasTornSector, isEqualRange } from "./ha_compare.ts";
import type { HANode } from "./ha_node.ts";
import type { HAPair } from "./ha_pair.ts";

/** What was promised to a producer. */
interface Acked {
  readonly phyOffset: number;
  readonly size: number;
  readonly body: Uint8Array;
  /** Who has it, and whether power can take it from there. */
  readonly keepers: Map<HANode, "durable" | "cached">;
}

export class HAPairChecker {
  /** A master lost power, and maybe bytes that its slave has. */
  mayDiverge = false;
  #acked: Acked[] = [];
  readonly #links = new Set<HALink>();
  readonly #powerLosses = new Map<HANode, number>();
  readonly #deletedFrom = new Set<HANode>();

  constructor(private readonly pair: HAPair) {}

  /** Of a node that runs, or is about to. */
  onPowerLost(node: HANode): void {
    // Also of a master whose start has failed.
    if (node.isMaster || node === this.pair.master) this.mayDiverge = true;
    this.#powerLosses.set(node, this.#lossesOf(node) + 1);
    this.#lose(node, (it) => it.keepers.get(node) === "cached");
  }

  onDeleted(node: HANode): void {
    this.#deletedFrom.add(node);
  }

  /** A slave was cut or begins anew, and is a prefix of its master's log again. */
  onSurgery(node: HANode): void {
    const { master } = this.pair;
    if (node.life === null) return;
    const { commitLog } = node.life.store;
    this.#lose(
      node,
      (it) =>
        !commitLog.holds(it.phyOffset, it.size) || !this.#isThere(node, it),
    );
    if (!master.isMaster || node === master) return;
    const found = unhindered(
      [node, master],
      () => compareLogs(node.life!.store, master.life!.store),
    );
    if (found === undefined) this.mayDiverge = false;
  }

  onStarted(node: HANode): void {
    this.#checkAckedAt(node);
    const { master: { life: master }, slave } = this.pair;
    if (node !== slave || master === null) return;
    if (this.#lossesOf(slave) === 0) return;
    const isTorn = unhindered(
      [slave, this.pair.master],
      () => hasTornSector(slave.life!.store, master.store),
    );
    if (!isTorn) return;
    // A record's head or properties, which no CRC covers: the slave finds it, and says so.
    this.mayDiverge = true;
    this.pair.hits.add("slave: a sector was torn");
  }

  /** Recovery makes durable what a promoted log holds; nothing that it had is missing. */
  onPromoted(heir: HANode): void {
    this.#checkAckedAt(heir);
    const { commitLog } = heir.life!.store;
    for (const it of this.#acked) {
      if (commitLog.holds(it.phyOffset, it.size) && this.#isThere(heir, it)) {
        it.keepers.set(heir, "durable");
      } else if (!this.#isDeleted(heir, it)) {
        // Power took it from the heir, and the former master's log goes on without it.
        it.keepers.clear();
      }
    }
    this.#forgetLost();
  }

  /** To be called with a put; the result with its answer, if that was a PUT_OK. */
  onPut(
    node: HANode,
    body: Uint8Array,
  ): (phyOffset: number, size: number) => void {
    const { pair } = this;
    const slave = node === pair.master ? pair.slave : pair.master;
    const losses = this.#lossesOf(slave);
    const isOutdated = (node.record?.epoch ?? 0) < pair.highestEpoch;
    return (phyOffset, size) => {
      assert(
        !isOutdated,
        `acked ${phyOffset} at a master whose slave was promoted before`,
      );
      const keepers: Acked["keepers"] = new Map();
      const { flushDiskType } = node.options.store;
      keepers.set(node, flushDiskType === "SYNC_FLUSH" ? "durable" : "cached");
      // The ack may have been under way when the power of its sender went.
      if (node.options.ha.haAckAfterFlush) keepers.set(slave, "durable");
      else if (losses === this.#lossesOf(slave)) keepers.set(slave, "cached");
      const acked = { phyOffset, size, body, keepers };
      this.#acked.push(acked);
      if (slave.isMaster) {
        // Promoted while the ack was under way.
        assert(this.#isThere(slave, acked), `acked ${phyOffset} is not there`);
        keepers.set(slave, "durable");
      }
    };
  }

  /** What was acknowledged is on whoever has it to have. */
  checkAcked(): void {
    for (const it of [this.pair.master, this.pair.slave]) {
      this.#checkAckedAt(it);
    }
  }

  /** Counts the states; nobody says `diverged` without a cause. */
  look(): void {
    const { hits, master, slave } = this.pair;
    const nowMs = this.pair.clock.monotonicMs();
    for (const link of master.life?.service.links ?? []) this.#links.add(link);
    for (const link of this.#links) {
      const { state, problem } = link.machine.view(nowMs);
      hits.add(`master's link: ${state}`);
      if (problem !== null) hits.add(`master: ${problem}`);
      if (link.isClosed) this.#links.delete(link);
    }
    for (const { life } of [master, slave]) {
      if (life !== null) hits.add(`${life.role} is ${life.ha.state().state}`);
    }
    const view = slave.life?.client?.view();
    if (view === undefined) return;
    hits.add(`slave: ${view.state}`);
    if (view.problem === null) return;
    hits.add(`slave: ${view.problem}`);
    assert(
      this.mayDiverge || view.problem !== "diverged",
      `a false alarm: ${view.reason}`,
    );
  }

  /** The slave's log is a prefix, or there is a cause. */
  checkPrefix(): void {
    const { master: { life: master, disk }, slave: { life: slave } } =
      this.pair;
    if (this.mayDiverge || master === null || slave?.role !== "SLAVE") return;
    if (master.role === "SLAVE" || disk.faults.failRead !== undefined) return;
    const found = compareLogs(slave.store, master.store);
    assert(found?.problem !== "diverged", found?.reason);
  }

  /** The state that the pair says it is in, once that is the truth; null before. */
  end(): string | null {
    const [{ life: master }, { life: slave }] = [
      this.pair.master,
      this.pair.slave,
    ];
    if (master === null || slave === null) return null; // Begins anew by itself.
    assert(master.role !== "SLAVE", "nobody is the master");
    assert(slave.client !== null, "both are masters");
    const found = compareLogs(slave.store, master.store);
    const view = slave.client.view();
    if (found !== undefined) {
      const { problem, reason } = found;
      assert(problem !== "diverged" || this.mayDiverge, reason);
      return view.problem === problem ? problem : null;
    }
    const { maxPhyOffset } = master.store;
    if (slave.store.maxPhyOffset !== maxPhyOffset) return null;
    if (master.service.inSyncSlaveNums !== 1) return null;
    if (view.state !== "TRANSFER" || view.problem !== null) return null;
    const from = Math.max(master.store.minPhyOffset, slave.store.minPhyOffset);
    assert(
      isEqualRange(slave.store, master.store, from, maxPhyOffset),
      "the logs differ",
    );
    return "healthy";
  }

  /** Why `end` says nothing yet. */
  get unsettled(): string {
    const [master, slave] = [this.pair.master.life, this.pair.slave.life];
    if (master === null || slave === null) return "not settled: a node is down";
    const { state, problem, reason } = slave.client!.view();
    return `not settled: ${state}, ${problem}, ${reason}; the slave ends at ` +
      `${slave.store.maxPhyOffset}, the master at ${master.store.maxPhyOffset}`;
  }

  #checkAckedAt(node: HANode): void {
    if (node.life === null) return;
    const { commitLog } = node.life.store;
    for (const it of this.#acked) {
      if (!it.keepers.has(node) || this.#isDeleted(node, it)) continue;
      const { phyOffset, size } = it;
      assert(
        commitLog.holds(phyOffset, size),
        `acked ${phyOffset} is not on ${node.options.host}, which has ` +
          `${commitLog.minOffset} to ${commitLog.maxOffset}`,
      );
      assert(
        this.#isThere(node, it),
        `acked ${phyOffset} is another message on ${node.options.host}`,
      );
    }
  }

  #isDeleted(node: HANode, { phyOffset }: Acked): boolean {
    return this.#deletedFrom.has(node) &&
      phyOffset < node.life!.store.commitLog.minOffset;
  }

  #isThere(node: HANode, { phyOffset, size, body }: Acked): boolean {
    const record = new Uint8Array(size);
    unhindered(
      [node],
      () => node.life!.store.commitLog.readAt(phyOffset, record),
    );
    try {
      return Buffer.compare(decodeMessageRecord(record).body, body) === 0;
    } catch {
      return false;
    }
  }

  #lossesOf(node: HANode): number {
    return this.#powerLosses.get(node) ?? 0;
  }

  #lose(node: HANode, isLost: (it: Acked) => boolean): void {
    for (const it of this.#acked) if (isLost(it)) it.keepers.delete(node);
    this.#forgetLost();
  }

  #forgetLost(): void {
    const kept = this.#acked.filter((it) => it.keepers.size > 0);
    for (let lost = this.#acked.length - kept.length; lost > 0; lost--) {
      this.pair.hits.add("acked: taken by power or an operator");
    }
    this.#acked = kept;
  }
}

/** A test sees what lies on a disk that does not let its broker read. */
function unhindered<T>(nodes: readonly HANode[], look: () => T): T {
  const before = nodes.map(({ disk: { faults } }) => {
    const { failRead, isReadOnly } = faults;
    return { failRead, isReadOnly };
  });
  for (const { disk } of nodes) {
    Object.assign(disk.faults, { failRead: undefined, isReadOnly: false });
  }
  try {
    return look();
  } finally {
    nodes.forEach(({ disk }, index) => {
      Object.assign(disk.faults, before[index]);
    });
  }
}
