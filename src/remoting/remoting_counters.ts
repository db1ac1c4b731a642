/** RemotingCounters: what a server or client has done, for metrics. */

/** Counts since start. */
export class RemotingCounters {
  connectionsOpened = 0;
  connectionsClosed = 0;
  /** Refused at `connectionsMax` or while stopping. */
  connectionsRefused = 0;
  /** Closed for bytes that are no frame. */
  junkCloses = 0;
  /** Closed for idling, for a frame that took too long or a peer that does not read. */
  timeoutCloses = 0;
  bytesIn = 0;
  bytesOut = 0;
  /** Requests of codes without a processor. */
  unknownRequests = 0;
  /** Requests whose processor threw. */
  failedRequests = 0;
  readonly #requests = new Map<number, number>();

  /** Counts a request of a code that has a processor (so the table is bounded). */
  countRequest(code: number): void {
    this.#requests.set(code, (this.#requests.get(code) ?? 0) + 1);
  }

  /** Requests by code. */
  get requests(): ReadonlyMap<number, number> {
    return this.#requests;
  }
}
