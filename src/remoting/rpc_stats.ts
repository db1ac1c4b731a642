/**
 * RpcStats: the requests of one code: how many came, how they were answered and how long that took.
 *
 * Most answers are given while the bytes that brought the request are still being read. They are
 * only counted then, and their time is taken once for all of them when that turn has ended and
 * its answers are written: the clock is read once a turn, not once a request.
 */
import { Histogram } from "../base/histogram.ts";

/** Milliseconds; those of RocketMQ's rocketmq_rpc_latency. */
const LATENCY_BOUNDS_MS = Float64Array.of(
  1,
  3,
  5,
  7,
  10,
  100,
  1_000,
  2_000,
  3_000,
);

/** What became of an answer. */
export type RpcResult = "success" | "oneway" | "write_channel_failed";

/** All answers of one kind. */
export class RpcOutcome {
  readonly latencyMs = new Histogram(LATENCY_BOUNDS_MS);
  /** Answers of the turn that has not ended. */
  ofTurn = 0;

  constructor(
    readonly responseCode: number,
    readonly isLongPolling: boolean,
    readonly result: RpcResult,
  ) {}

  /** Takes one answer; RocketMQ counts whole milliseconds. */
  add(elapsedMs: number): void {
    this.latencyMs.add(Math.max(0, Math.floor(elapsedMs)));
  }

  /** Takes what the turn has counted. */
  endTurn(elapsedMs: number): void {
    this.latencyMs.add(Math.max(0, Math.floor(elapsedMs)), this.ofTurn);
    this.ofTurn = 0;
  }
}

/** The requests of one code; numbers only grow, but `held`. */
export class RpcStats {
  received = 0;
  answered = 0;
  /** Requests that wait for something to happen, as long polls do, or went with their peer. */
  held = 0;
  readonly #outcomes: RpcOutcome[] = [];

  get outcomes(): readonly RpcOutcome[] {
    return this.#outcomes;
  }

  /** Requests that are being worked on. */
  get inProgress(): number {
    return this.received - this.answered - this.held;
  }

  /** A handful of kinds per code: looking through them is the quickest way. */
  outcomeOf(
    responseCode: number,
    isLongPolling: boolean,
    result: RpcResult,
  ): RpcOutcome {
    for (const it of this.#outcomes) {
      if (
        it.responseCode === responseCode &&
        it.isLongPolling === isLongPolling && it.result === result
      ) return it;
    }
    const outcome = new RpcOutcome(responseCode, isLongPolling, result);
    this.#outcomes.push(outcome);
    return outcome;
  }
}
