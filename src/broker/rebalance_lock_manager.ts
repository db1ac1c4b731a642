/**
 * RebalanceLockManager: which client of a group owns a queue, for consumers
 * that keep order (reference 11.4). In memory only: owners renew every 20 s.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { MessageQueue } from "../model/message_queue.ts";
import type { BrokerOptions } from "./broker_options.ts";

/** Milliseconds between two sweeps of expired locks. */
const SWEEP_INTERVAL_MS = 60_000;

/** Locks of all groups together; the next new one is not granted. */
const REBALANCE_LOCKS_MAX = 500_000;

interface LockEntry {
  clientId: string;
  /** Monotonic: no clock that is set frees a lock, or holds one. */
  lastUpdateMs: number;
}

/** The locks by group and queue. */
export class RebalanceLockManager {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #groups = new Map<string, Map<string, LockEntry>>();
  #options: BrokerOptions;
  #sweptMs: number;
  #size = 0;

  constructor(
    ports: { readonly clock: Clock; readonly logger: Logger },
    options: BrokerOptions,
  ) {
    this.#clock = ports.clock;
    this.#logger = ports.logger;
    this.#options = options;
    this.#sweptMs = ports.clock.monotonicMs();
  }

  reconfigure(options: BrokerOptions): void {
    this.#options = options;
  }

  /** Takes or renews what is free, owned by the client or expired; gives the queues it owns now. */
  tryLockBatch(
    group: string,
    queues: readonly MessageQueue[],
    clientId: string,
  ): MessageQueue[] {
    const nowMs = this.#clock.monotonicMs();
    let locks = this.#groups.get(group);
    if (locks === undefined) this.#groups.set(group, locks = new Map());
    const locked: MessageQueue[] = [];
    for (const queue of queues) {
      const key = keyOf(queue);
      const entry = locks.get(key);
      if (entry === undefined) {
        if (this.#size >= REBALANCE_LOCKS_MAX) continue;
        locks.set(key, { clientId, lastUpdateMs: nowMs });
        this.#size++;
      } else if (entry.clientId === clientId) {
        entry.lastUpdateMs = nowMs;
      } else if (this.#isExpired(entry, nowMs)) {
        this.#logger.info("an expired queue lock changed its owner", {
          group,
          topic: queue.topic,
          queueId: queue.queueId,
          from: entry.clientId,
          to: clientId,
        });
        entry.clientId = clientId;
        entry.lastUpdateMs = nowMs;
      } else continue;
      locked.push(queue);
    }
    if (locks.size === 0) this.#groups.delete(group);
    return locked;
  }

  /** Frees the queues that the client owns; others are left alone. */
  unlockBatch(
    group: string,
    queues: readonly MessageQueue[],
    clientId: string,
  ): void {
    const locks = this.#groups.get(group);
    if (locks === undefined) return;
    for (const queue of queues) {
      const key = keyOf(queue);
      if (locks.get(key)?.clientId !== clientId) continue;
      locks.delete(key);
      this.#size--;
    }
    if (locks.size === 0) this.#groups.delete(group);
  }

  /** False while any lock of the group is alive: its consumer keeps order. */
  isLockAllExpired(group: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (const entry of this.#groups.get(group)?.values() ?? []) {
      if (!this.#isExpired(entry, nowMs)) return false;
    }
    return true;
  }

  /** Forgets locks that nobody renews; `nowMs` is monotonic. */
  tick(nowMs: number): void {
    if (nowMs - this.#sweptMs < SWEEP_INTERVAL_MS) return;
    this.#sweptMs = nowMs;
    for (const [group, locks] of this.#groups) {
      for (const [key, entry] of locks) {
        if (!this.#isExpired(entry, nowMs)) continue;
        locks.delete(key);
        this.#size--;
      }
      if (locks.size === 0) this.#groups.delete(group);
    }
  }

  #isExpired(entry: LockEntry, nowMs: number): boolean {
    return nowMs - entry.lastUpdateMs >
      this.#options.rebalanceLockMaxLiveTime;
  }
}

function keyOf(queue: MessageQueue): string {
  return `${queue.topic}\u0001${queue.brokerName}\u0001${queue.queueId}`;
}
