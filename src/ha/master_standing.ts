/**
 * MasterStanding: what a slave last knew of its place behind its master; outlives the link, since
 * it is asked for when the master is gone.
 */
import type { HAStop } from "./master_probe.ts";

/** One of three. */
export type MasterStandingView =
  /** The logs were not compared since the start. */
  | { readonly kind: "unknown" }
  /** The comparison ended in a state that no data may follow. */
  | {
    readonly kind: "stopped";
    readonly problem: HAStop;
    readonly reason: string;
  }
  /** This log was a prefix of the master's. */
  | {
    readonly kind: "follows";
    /** Bytes that the master had more when it was last asked. */
    readonly behindBytes: number;
    /** For how long it had had the first of them; milliseconds. */
    readonly behindMs: number;
  };

/** One per slave. */
export class MasterStanding {
  #view: MasterStandingView = { kind: "unknown" };

  get view(): MasterStandingView {
    return this.#view;
  }

  /** The comparison ended; what only says that the master is away changes nothing. */
  onStopped(problem: HAStop, reason: string): void {
    if (problem === "disconnected") return;
    this.#view = { kind: "stopped", problem, reason };
  }

  onFollows(behindBytes: number, behindMs: number): void {
    this.#view = {
      kind: "follows",
      behindBytes: Math.max(0, behindBytes),
      behindMs,
    };
  }
}
