/**
 * GroupTransferService: synchronous puts that wait for slaves (reference 6.4).
 *
 * Invariants
 * - A wait ends by offset or by deadline, never by a count of wake-ups.
 * - Acks are those of slaves connected now; what a slave that left had acked does not count.
 * - A slave that began empty counts only for puts behind its begin.
 * - Waits of one `ackNums` are in the order of their `nextOffset`.
 */

/** One slave that is alive. */
export interface SlaveAck {
  /** End of what it has. */
  readonly slaveAckOffset: number;
  /** Begin of what it may have; 0 unless it, or one that it may be, began empty. */
  readonly coversFrom: number;
}

/** How a wait ended. */
export type GroupTransferStatus = "PUT_OK" | "FLUSH_SLAVE_TIMEOUT";

interface GroupTransferRequest {
  /** The first offset behind the put. */
  readonly nextOffset: number;
  readonly deadlineMs: number;
  readonly done: (status: GroupTransferStatus) => void;
}

/** The waits that need the same number of acks. */
class Waits {
  #requests: GroupTransferRequest[] = [];
  #head = 0;

  constructor(readonly ackNums: number) {}

  get count(): number {
    return this.#requests.length - this.#head;
  }

  add(request: GroupTransferRequest): void {
    const list = this.#requests;
    let at = list.length;
    while (at > this.#head && list[at - 1]!.nextOffset > request.nextOffset) {
      at--;
    }
    if (at === list.length) list.push(request);
    else list.splice(at, 0, request);
  }

  /** Takes out those that enough slaves have. */
  release(slaves: readonly SlaveAck[], ended: GroupTransferRequest[]): void {
    const first = this.#requests[this.#head]!.nextOffset;
    if (slaves.some((it) => it.coversFrom >= first)) {
      return this.#releaseCovered(slaves, ended);
    }
    const offset = replicatedOffsetOf(
      slaves.map((it) => it.slaveAckOffset),
      this.ackNums,
    );
    const list = this.#requests;
    while (this.#head < list.length) {
      const request = list[this.#head]!;
      if (request.nextOffset > offset) break;
      ended.push(request);
      this.#head++;
    }
    if (this.#head === list.length) {
      this.#requests = [];
      this.#head = 0;
    } else if (this.#head > 1024 && this.#head * 2 > list.length) {
      this.#requests = list.slice(this.#head);
      this.#head = 0;
    }
  }

  /** As `release`, while an old wait must not hold back newer ones. */
  #releaseCovered(
    slaves: readonly SlaveAck[],
    ended: GroupTransferRequest[],
  ): void {
    this.#split(ended, ({ nextOffset }) => {
      let count = 0;
      for (const { coversFrom, slaveAckOffset } of slaves) {
        if (coversFrom < nextOffset && nextOffset <= slaveAckOffset) count++;
      }
      return count >= this.ackNums;
    });
  }

  /** Takes out those whose time is over. */
  expire(nowMs: number, ended: GroupTransferRequest[]): void {
    this.#split(ended, (it) => it.deadlineMs <= nowMs);
  }

  #split(
    ended: GroupTransferRequest[],
    hasEnded: (request: GroupTransferRequest) => boolean,
  ): void {
    const kept: GroupTransferRequest[] = [];
    for (let index = this.#head; index < this.#requests.length; index++) {
      const request = this.#requests[index]!;
      (hasEnded(request) ? ended : kept).push(request);
    }
    this.#requests = kept;
    this.#head = 0;
  }

  earliestDeadlineMs(): number {
    let earliest = Infinity;
    for (let index = this.#head; index < this.#requests.length; index++) {
      earliest = Math.min(earliest, this.#requests[index]!.deadlineMs);
    }
    return earliest;
  }
}

/** The waiting puts of one master. */
export class GroupTransferService {
  readonly #waits: Waits[] = [];
  readonly #pendingMax: number;
  /** No wait ends before it by time. */
  #earliestDeadlineMs = Infinity;

  /** `pendingMax`: waits at once; one more ends at once as timed out. */
  constructor(pendingMax: number) {
    this.#pendingMax = pendingMax;
  }

  /** Puts that wait now. */
  get pendingCount(): number {
    let count = 0;
    for (const it of this.#waits) count += it.count;
    return count;
  }

  /**
   * Calls `done` once, later: when `ackNums` slaves (>= 1, the master not counted) have acked
   * `nextOffset`, or at the first tick from `deadlineMs` on.
   */
  wait(
    nextOffset: number,
    ackNums: number,
    deadlineMs: number,
    done: (status: GroupTransferStatus) => void,
  ): void {
    if (this.pendingCount >= this.#pendingMax) {
      done("FLUSH_SLAVE_TIMEOUT");
      return;
    }
    this.#waitsOf(ackNums).add({ nextOffset, deadlineMs, done });
    this.#earliestDeadlineMs = Math.min(this.#earliestDeadlineMs, deadlineMs);
  }

  /** To be called whenever an ack came, a slave counts from now on, or one left. */
  onAcks(slaves: readonly SlaveAck[]): void {
    const ended: GroupTransferRequest[] = [];
    for (const it of this.#waits) if (it.count > 0) it.release(slaves, ended);
    for (const it of ended) it.done("PUT_OK");
  }

  /** Acks first: what has arrived in time is not late because the tick is. */
  tick(slaves: readonly SlaveAck[], nowMs: number): void {
    this.onAcks(slaves);
    if (nowMs < this.#earliestDeadlineMs) return;
    const ended: GroupTransferRequest[] = [];
    let earliest = Infinity;
    for (const it of this.#waits) {
      it.expire(nowMs, ended);
      earliest = Math.min(earliest, it.earliestDeadlineMs());
    }
    this.#earliestDeadlineMs = earliest;
    for (const it of ended) it.done("FLUSH_SLAVE_TIMEOUT");
  }

  /** The role ends: every wait does. */
  shutdown(): void {
    this.tick([], Infinity);
  }

  #waitsOf(ackNums: number): Waits {
    let waits = this.#waits.find((it) => it.ackNums === ackNums);
    if (waits === undefined) this.#waits.push(waits = new Waits(ackNums));
    return waits;
  }
}

/** The offset that `ackNums` (>= 1) of the slaves have acked; -1 when there are fewer slaves. */
export function replicatedOffsetOf(
  slaveAckOffsets: readonly number[],
  ackNums: number,
): number {
  if (slaveAckOffsets.length < ackNums) return -1;
  if (ackNums === 1) return Math.max(...slaveAckOffsets);
  const descending = slaveAckOffsets.toSorted((a, b) => b - a);
  return descending[ackNums - 1]!;
}
