/** RemotingCounters: what a server or client has done, for metrics. */
import { RpcStats } from "./rpc_stats.ts";

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
  /** Requests whose processor threw. */
  failedRequests = 0;
  /** Requests of codes that have no processor: together, so that nobody makes the table grow. */
  readonly unknown = new RpcStats();
  readonly #requests = new Map<number, RpcStats>();

  /** Of a code that has a processor. */
  statsOf(code: number): RpcStats {
    let stats = this.#requests.get(code);
    if (stats === undefined) this.#requests.set(code, stats = new RpcStats());
    return stats;
  }

  /** By code. */
  get requests(): ReadonlyMap<number, RpcStats> {
    return this.#requests;
  }
}
