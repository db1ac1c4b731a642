/**
 * PopLongPollingService: POP and NOTIFICATION requests that wait for a message.
 *
 * Invariants
 * - A held request is woken once, dropped with its connection, or still held.
 * - A message wakes one request of each group: one that asked for its queue, else for all queues.
 * - A message that the filter refuses wakes nobody.
 */
import type { MessageFilter } from "../../store/get_message_result.ts";
import type { RemotingConnection } from "../../remoting/request_processor.ts";
import { popRetryTopicOf } from "../../model/pop_retry_topic.ts";
import type { PopOptions } from "./pop_options.ts";

/** One held request. */
export interface PopRequest {
  readonly topic: string;
  readonly group: string;
  /** Below 0: all queues. */
  readonly queueId: number;
  /** Monotonic, milliseconds. */
  readonly deadlineMs: number;
  readonly filter: MessageFilter | null;
  readonly connection: RemotingConnection;
  /** Processes the request anew. */
  wakeup(isTimeout: boolean): void;
}

/** Requests of one group for one topic. */
interface Waiting {
  readonly topic: string;
  readonly group: string;
  /** By queueId; -1: all queues. */
  readonly queues: Map<number, Set<PopRequest>>;
}

const ALL_QUEUES = -1;
const NOT_HELD: ReadonlySet<PopRequest> = new Set();

/** What the service needs. */
export interface PopLongPollingPorts {
  /** Runs `run` at the end of this turn. */
  defer(run: () => void): void;
}

/** Holds requests by topic, group and queue. */
export class PopLongPollingService {
  readonly #ports: PopLongPollingPorts;
  #options: PopOptions;
  /** By topic, then group. */
  readonly #byTopic = new Map<string, Map<string, Waiting>>();
  /** Retry topics of who waits. */
  readonly #byRetryTopic = new Map<string, Waiting>();
  readonly #byConnection = new Map<RemotingConnection, Set<PopRequest>>();
  #woken: PopRequest[] = [];
  #heldCount = 0;
  /** No held request times out before. */
  #nextDeadlineMs = Infinity;
  #isStopped = false;

  constructor(ports: PopLongPollingPorts, options: PopOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  reconfigure(options: PopOptions): void {
    this.#options = options;
  }

  /** Requests held now. */
  get heldCount(): number {
    return this.#heldCount;
  }

  /** Held requests of a group for that queue, or for all with a queueId below 0. */
  pollingNum(topic: string, group: string, queueId: number): number {
    const waiting = this.#byTopic.get(topic)?.get(group);
    return waiting?.queues.get(Math.max(queueId, ALL_QUEUES))?.size ?? 0;
  }

  /** Holds `request`; false at a limit, and once it is stopped. */
  polling(request: PopRequest): boolean {
    const { maxPopPollingSize, popPollingSize } = this.#options;
    if (this.#isStopped || this.#heldCount >= maxPopPollingSize) return false;
    const queueId = Math.max(request.queueId, ALL_QUEUES);
    const waiting = this.#waitingOf(request);
    let held = waiting.queues.get(queueId);
    if (held === undefined) waiting.queues.set(queueId, held = new Set());
    if (held.size >= popPollingSize) return false;
    held.add(request);
    const own = this.#byConnection.get(request.connection);
    if (own === undefined) {
      this.#byConnection.set(request.connection, new Set([request]));
    } else own.add(request);
    this.#heldCount++;
    this.#nextDeadlineMs = Math.min(this.#nextDeadlineMs, request.deadlineMs);
    return true;
  }

  /** Dispatch has a new message of a topic or of a retry topic. */
  notifyMessageArriving(
    topic: string,
    queueId: number,
    tagsCode: number,
    propertiesText: string,
  ): void {
    if (this.#heldCount === 0) return;
    const isWanted = ({ filter }: PopRequest) =>
      filter === null ||
      (filter.isMatchedByConsumeQueue(tagsCode | 0) &&
        (filter.isMatchedByCommitLog?.(propertiesText) ?? true));
    const retry = this.#byRetryTopic.get(topic);
    if (retry !== undefined) this.#wakeAny(retry, isWanted);
    const groups = this.#byTopic.get(topic);
    if (groups === undefined) return;
    for (const waiting of [...groups.values()]) {
      if (!this.#wakeOne(waiting, queueId, isWanted)) {
        this.#wakeOne(waiting, ALL_QUEUES, isWanted);
      }
    }
  }

  /** That queue has something for the group: one that waits for it looks again. */
  wakeOne(topic: string, group: string, queueId: number): void {
    const waiting = this.#byTopic.get(topic)?.get(group);
    if (waiting === undefined) return;
    const isAny = () => true;
    if (!this.#wakeOne(waiting, Math.max(queueId, ALL_QUEUES), isAny)) {
      if (queueId < 0) this.#wakeAny(waiting, isAny);
      else this.#wakeOne(waiting, ALL_QUEUES, isAny);
    }
  }

  /** As `wakeOne`, for whoever popped from the retry topic. */
  wakeRetry(retryTopic: string): void {
    const waiting = this.#byRetryTopic.get(retryTopic);
    if (waiting !== undefined) this.#wakeAny(waiting, () => true);
  }

  /** Drops what a closed connection had pending. */
  onConnectionClosed(connection: RemotingConnection): void {
    for (const request of this.#byConnection.get(connection) ?? NOT_HELD) {
      this.#release(request);
    }
    this.#byConnection.delete(connection);
    this.#woken = this.#woken.filter((it) => it.connection !== connection);
  }

  /** `nowMs` is monotonic. */
  tick(nowMs: number): void {
    if (nowMs < this.#nextDeadlineMs) return;
    this.#nextDeadlineMs = Infinity;
    for (const request of this.#all()) {
      if (request.deadlineMs > nowMs) {
        this.#nextDeadlineMs = Math.min(
          this.#nextDeadlineMs,
          request.deadlineMs,
        );
      } else {
        this.#release(request);
        request.wakeup(true);
      }
    }
  }

  /** Answers everything now and holds nothing more, at shutdown. */
  stop(): void {
    this.#isStopped = true;
    for (const request of this.#all()) {
      this.#release(request);
      request.wakeup(true);
    }
  }

  #all(): PopRequest[] {
    return [...this.#byConnection.values()].flatMap((it) => [...it]);
  }

  #waitingOf({ group, topic }: PopRequest): Waiting {
    let groups = this.#byTopic.get(topic);
    if (groups === undefined) this.#byTopic.set(topic, groups = new Map());
    let waiting = groups.get(group);
    if (waiting === undefined) {
      waiting = { topic, group, queues: new Map() };
      groups.set(group, waiting);
      for (const isV2 of [false, true]) {
        this.#byRetryTopic.set(popRetryTopicOf(topic, group, isV2), waiting);
      }
    }
    return waiting;
  }

  #wakeAny(waiting: Waiting, isWanted: (it: PopRequest) => boolean): boolean {
    for (const queueId of [ALL_QUEUES, ...waiting.queues.keys()]) {
      if (this.#wakeOne(waiting, queueId, isWanted)) return true;
    }
    return false;
  }

  #wakeOne(
    waiting: Waiting,
    queueId: number,
    isWanted: (it: PopRequest) => boolean,
  ): boolean {
    for (const request of waiting.queues.get(queueId) ?? NOT_HELD) {
      if (!isWanted(request)) continue;
      this.#release(request);
      if (this.#woken.length === 0) this.#ports.defer(() => this.#wakeup());
      this.#woken.push(request);
      return true;
    }
    return false;
  }

  #wakeup(): void {
    const woken = this.#woken;
    this.#woken = [];
    for (const it of woken) it.wakeup(false);
  }

  #release(request: PopRequest): void {
    const { connection, group, topic } = request;
    const queueId = Math.max(request.queueId, ALL_QUEUES);
    const waiting = this.#byTopic.get(topic)?.get(group);
    const held = waiting?.queues.get(queueId);
    if (!held?.delete(request)) return;
    this.#heldCount--;
    this.#byConnection.get(connection)?.delete(request);
    if (this.#byConnection.get(connection)?.size === 0) {
      this.#byConnection.delete(connection);
    }
    if (held.size > 0) return;
    waiting!.queues.delete(queueId);
    if (waiting!.queues.size > 0) return;
    const groups = this.#byTopic.get(topic)!;
    groups.delete(group);
    if (groups.size === 0) this.#byTopic.delete(topic);
    for (const isV2 of [false, true]) {
      this.#byRetryTopic.delete(popRetryTopicOf(topic, group, isV2));
    }
  }
}
