/**
 * PullRequestHoldService: pulls that wait for a message (long polling, reference 9.5).
 *
 * Invariants
 * - A held pull is answered once, dropped with its connection, or still held.
 * - A message costs one table look-up, whatever is held on other queues.
 * - A message that the filter refuses wakes nobody; the sweep lets the reader pass over it later.
 */
import type { MessageFilter } from "../store/get_message_result.ts";
import type { RemotingConnection } from "../remoting/request_processor.ts";

/** Milliseconds between two looks at every held queue, for arrivals nobody announced. */
const SWEEP_INTERVAL_MS = 5_000;
const NONE: readonly PullRequest[] = [];

/** One held pull. */
export interface PullRequest {
  readonly topic: string;
  readonly queueId: number;
  /** The pull is answered when the queue's end is above this queue offset. */
  readonly pullFromThisOffset: number;
  /** Monotonic, milliseconds. */
  readonly deadlineMs: number;
  readonly filter: MessageFilter | null;
  readonly connection: RemotingConnection;
  /** Pulls once more, without being held again, and answers. */
  wakeup(): void;
}

/** How the service sees queues and time. */
export interface PullRequestHoldPorts {
  maxOffsetInQueue(topic: string, queueId: number): number;
  /** Runs `run` at the end of this turn: all messages of a turn wake a reader once. */
  defer(run: () => void): void;
}

/** Keys that the service reads. */
export interface PullRequestHoldOptions {
  /** Pulls held at once. */
  readonly pullRequestHoldMax: number;
}

/** Holds pulls by topic and queue. */
export class PullRequestHoldService {
  readonly #ports: PullRequestHoldPorts;
  #options: PullRequestHoldOptions;
  readonly #byTopic = new Map<string, Map<number, PullRequest[]>>();
  readonly #byConnection = new Map<RemotingConnection, Set<PullRequest>>();
  #woken: PullRequest[] = [];
  #heldCount = 0;
  /** No held pull times out before. */
  #nextDeadlineMs = Infinity;
  #nextSweepMs = 0;

  constructor(ports: PullRequestHoldPorts, options: PullRequestHoldOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  reconfigure(options: PullRequestHoldOptions): void {
    this.#options = options;
  }

  /** Pulls held now. */
  get heldCount(): number {
    return this.#heldCount;
  }

  /** Holds `request`; false at the limit. */
  suspendPullRequest(request: PullRequest): boolean {
    if (this.#heldCount >= this.#options.pullRequestHoldMax) return false;
    const { topic, queueId, connection } = request;
    let queues = this.#byTopic.get(topic);
    if (queues === undefined) {
      queues = new Map();
      this.#byTopic.set(topic, queues);
    }
    const held = queues.get(queueId);
    if (held === undefined) queues.set(queueId, [request]);
    else held.push(request);
    const own = this.#byConnection.get(connection);
    if (own === undefined) {
      this.#byConnection.set(connection, new Set([request]));
    } else own.add(request);
    this.#heldCount++;
    this.#nextDeadlineMs = Math.min(this.#nextDeadlineMs, request.deadlineMs);
    // What came while the read was under way has announced itself already.
    const { pullFromThisOffset } = request;
    if (this.#ports.maxOffsetInQueue(topic, queueId) > pullFromThisOffset) {
      this.#take(topic, queueId, (it) => it === request);
    }
    return true;
  }

  /** Dispatch reached `nextOffset` of a queue with a message of that tags code. */
  notifyMessageArriving(
    topic: string,
    queueId: number,
    nextOffset: number,
    tagsCode: number,
    propertiesText: string,
  ): void {
    if (this.#heldCount === 0) return;
    const queues = this.#byTopic.get(topic);
    if (queues?.get(queueId) === undefined) return;
    this.#take(
      topic,
      queueId,
      (it) =>
        nextOffset > it.pullFromThisOffset &&
        (it.filter === null ||
          (it.filter.isMatchedByConsumeQueue(tagsCode | 0) &&
            (it.filter.isMatchedByCommitLog?.(propertiesText) ?? true))),
    );
  }

  /** Drops what a closed connection had pending. */
  onConnectionClosed(connection: RemotingConnection): void {
    const own = this.#byConnection.get(connection);
    if (own === undefined) return;
    const places = new Set<PullRequest>(own);
    for (const { topic, queueId } of places) {
      this.#remove(topic, queueId, (it) => own.has(it));
    }
    this.#byConnection.delete(connection);
    this.#woken = this.#woken.filter((it) => it.connection !== connection);
  }

  /** `nowMs` is monotonic: a clock that is set back must not keep a reader waiting. */
  tick(nowMs: number): void {
    const isSweep = nowMs >= this.#nextSweepMs;
    if (isSweep) this.#nextSweepMs = nowMs + SWEEP_INTERVAL_MS;
    if (this.#heldCount === 0) return;
    if (isSweep) this.#sweep();
    if (nowMs >= this.#nextDeadlineMs) this.#expire(nowMs);
  }

  /** Answers whoever waits for this queue: its position is another one now. */
  wakeQueue(topic: string, queueId: number): void {
    this.#take(topic, queueId, () => true);
  }

  /** Answers everything now, at shutdown. */
  wakeAll(): void {
    for (const [topic, queues] of [...this.#byTopic]) {
      for (const queueId of [...queues.keys()]) {
        this.#take(topic, queueId, () => true);
      }
    }
    this.#wakeup();
  }

  #sweep(): void {
    for (const [topic, queues] of [...this.#byTopic]) {
      for (const queueId of [...queues.keys()]) {
        const maxOffset = this.#ports.maxOffsetInQueue(topic, queueId);
        this.#take(topic, queueId, (it) => maxOffset > it.pullFromThisOffset);
      }
    }
  }

  #expire(nowMs: number): void {
    let nextDeadlineMs = Infinity;
    for (const [topic, queues] of [...this.#byTopic]) {
      for (const [queueId, held] of [...queues]) {
        let isDue = false;
        for (const it of held) {
          if (it.deadlineMs <= nowMs) isDue = true;
          else nextDeadlineMs = Math.min(nextDeadlineMs, it.deadlineMs);
        }
        if (isDue) this.#take(topic, queueId, (it) => it.deadlineMs <= nowMs);
      }
    }
    this.#nextDeadlineMs = nextDeadlineMs;
  }

  /** Moves those that pass `test` from the table to the woken ones. */
  #take(
    topic: string,
    queueId: number,
    test: (request: PullRequest) => boolean,
  ): void {
    const taken = this.#remove(topic, queueId, test);
    if (taken.length === 0) return;
    for (const it of taken) {
      const own = this.#byConnection.get(it.connection);
      if (own?.delete(it) && own.size === 0) {
        this.#byConnection.delete(it.connection);
      }
    }
    if (this.#woken.length === 0) this.#ports.defer(() => this.#wakeup());
    this.#woken.push(...taken);
  }

  #remove(
    topic: string,
    queueId: number,
    test: (request: PullRequest) => boolean,
  ): readonly PullRequest[] {
    const queues = this.#byTopic.get(topic);
    const held = queues?.get(queueId);
    if (queues === undefined || held === undefined) return NONE;
    // Most messages of a filtered queue wake nobody: that costs no new lists.
    const first = held.findIndex(test);
    if (first < 0) return NONE;
    const taken = [held[first]!];
    const kept = held.slice(0, first);
    for (let index = first + 1; index < held.length; index++) {
      const it = held[index]!;
      (test(it) ? taken : kept).push(it);
    }
    this.#heldCount -= taken.length;
    if (kept.length > 0) queues.set(queueId, kept);
    else {
      queues.delete(queueId);
      if (queues.size === 0) this.#byTopic.delete(topic);
    }
    return taken;
  }

  #wakeup(): void {
    const woken = this.#woken;
    this.#woken = [];
    for (const it of woken) it.wakeup();
  }
}
