/** HAPairChecker: what is promised about a pair, looked at from outside. */
import { Buffer } from "node:buffer";
import { assert } from "@std/assert";
import type { HALink } from "../../src/ha/ha_link.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import type { HAHits } from "./ha_hits.ts";
import type { HANode } from "./ha_node.ts";
import { compareLogs, isEqualRange } from "./ha_probe.ts";

/** What was promised to a producer. */
interface Acked {
  readonly phyOffset: number;
  readonly size: number;
  readonly body: Uint8Array;
  /** The slave has lost power since, and what it had not flushed. */
  isWeak: boolean;
}

export class HAPairChecker {
  /** The master lost power, and maybe bytes that the slave has. */
  mayDiverge = false;
  readonly #acked: Acked[] = [];
  readonly #links = new Set<HALink>();
  /** Those without haAckAfterFlush. */
  #slavePowerLosses = 0;

  constructor(
    private readonly master: HANode,
    private readonly slave: HANode,
    private readonly hits: HAHits,
  ) {}

  onSlavePowerLost(): void {
    if (this.slave.options.ha.haAckAfterFlush) return;
    this.#slavePowerLosses++;
    for (const it of this.#acked) it.isWeak = true;
  }

  /** To be called with a put; the result with its answer, if that was a PUT_OK. */
  onPut(body: Uint8Array): (phyOffset: number, size: number) => void {
    const losses = this.#slavePowerLosses;
    return (phyOffset, size) => {
      // The ack may have been under way when the power of its sender went.
      const isWeak = losses !== this.#slavePowerLosses;
      this.#acked.push({ phyOffset, size, body, isWeak });
    };
  }

  /** What was acknowledged is on the slave. */
  checkAcked(): void {
    const { commitLog } = this.slave.life!.store;
    for (const { phyOffset, size, body, isWeak } of this.#acked) {
      if (isWeak) continue;
      assert(
        commitLog.holds(phyOffset, size),
        `acked ${phyOffset} is not on the slave, which has ` +
          `${commitLog.minOffset} to ${commitLog.maxOffset}`,
      );
      const record = new Uint8Array(size);
      commitLog.readAt(phyOffset, record);
      assert(
        Buffer.compare(decodeMessageRecord(record).body, body) === 0,
        `acked ${phyOffset} is another message on the slave`,
      );
    }
  }

  /** Counts the states; nobody says `diverged` without a cause. */
  look(nowMs: number): void {
    const links = this.master.life?.service.links ?? [];
    for (const link of links) this.#links.add(link);
    for (const link of this.#links) {
      const { state, problem } = link.machine.view(nowMs);
      this.hits.add(`master's link: ${state}`);
      if (problem !== null) this.hits.add(`master: ${problem}`);
      if (link.isClosed) this.#links.delete(link);
    }
    const view = this.slave.life?.client?.view();
    if (view === undefined) return;
    this.hits.add(`slave: ${view.state}`);
    if (view.problem === null) return;
    this.hits.add(`slave: ${view.problem}`);
    assert(
      this.mayDiverge || view.problem !== "diverged",
      `a false alarm: ${view.reason}`,
    );
  }

  /** The slave's log is a prefix, or there is a cause. */
  checkPrefix(): void {
    const [master, slave] = [this.master.life, this.slave.life];
    if (this.mayDiverge || master === null || slave === null) return;
    if (this.master.disk.faults.failRead !== undefined) return;
    const found = compareLogs(slave.store, master.store);
    assert(found?.problem !== "diverged", found?.reason);
  }

  /** The state that the pair says it is in, once that is the truth; null before. */
  end(): string | null {
    const [master, slave] = [this.master.life!, this.slave.life!];
    const found = compareLogs(slave.store, master.store);
    if (found !== undefined) {
      const { problem, reason } = found;
      assert(problem !== "diverged" || this.mayDiverge, reason);
      return slave.client!.view().problem === problem ? problem : null;
    }
    const view = slave.client!.view();
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
    const { state, problem, reason } = this.slave.life!.client!.view();
    return `not settled: ${state}, ${problem}, ${reason}; the slave ends at ` +
      `${this.slave.life!.store.maxPhyOffset}, the master at ` +
      `${this.master.life!.store.maxPhyOffset}`;
  }
}
