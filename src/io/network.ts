/** Network: the sockets that the core needs. Time and limits belong to the caller. */

/** What happened on one connection. Bytes belong to the callee only until it returns. */
export interface ConnectionEvents {
  onData(bytes: Uint8Array): void;
  /** Called when everything that `write` had queued has gone out. */
  onDrain(): void;
  /** Called exactly once. `reason` is null for an orderly end. */
  onClose(reason: string | null): void;
}

/** One TCP connection. */
export interface Connection {
  /** `host:port`; IPv6 hosts in brackets; IPv4-mapped addresses as IPv4. */
  readonly localAddress: string;
  readonly remoteAddress: string;
  /** Bytes accepted by `write` that the kernel has not taken yet. */
  readonly queuedBytes: number;
  /**
   * Takes all bytes (copying what it cannot send at once); returns `queuedBytes`. After close:
   * 0, dropped. `isLent`: nothing is copied, for the caller leaves the bytes as they are until
   * `queuedBytes` is 0 or the connection has ended.
   */
  write(bytes: Uint8Array, isLent?: boolean): number;
  /** Stops `onData` until `resume`; the kernel's window then slows the peer. */
  pause(): void;
  resume(): void;
  /** Ends the connection once queued bytes have gone out (at most about a second), then `onClose`. */
  close(): void;
  /** Ends it now, dropping what is queued (RST). */
  terminate(): void;
}

/** A bound port. */
export interface Listener {
  readonly hostname: string;
  readonly port: number;
  /** Stops accepting and terminates the connections accepted here. */
  close(): Promise<void>;
}

/** Where to listen or connect; port 0 takes a free one. */
export interface Endpoint {
  readonly hostname: string;
  readonly port: number;
}

/** Opens ports and connections. */
export interface Network {
  /**
   * Rejects with an Error whose `code` is EADDRINUSE, EACCES, EADDRNOTAVAIL, or
   * ENOTFOUND (a name that cannot be resolved) when it cannot bind.
   */
  listen(
    at: Endpoint,
    accept: (connection: Connection) => ConnectionEvents,
  ): Promise<Listener>;
  connect(to: Endpoint, events: ConnectionEvents): Promise<Connection>;
}
