/** MemoryNetwork: connections within the process, delivered by microtask, with a switch that stops a reader. */
import type {
  Connection,
  ConnectionEvents,
  Endpoint,
  Listener,
  Network,
} from "../../src/io/network.ts";

const SOON = Promise.resolve();

/** One end; `written` keeps the chunks that its owner wrote. */
export class MemoryConnection implements Connection {
  readonly written: Uint8Array[] = [];
  events!: ConnectionEvents;
  peer!: MemoryConnection;
  isPaused = false;
  /** True: this end takes nothing, so that the peer's bytes stay queued there. */
  isDeaf = false;
  isClosed = false;
  #inbox: Uint8Array[] = [];
  #undelivered = 0;
  /** True from a write to a deaf peer until everything is delivered. */
  #isQueued = false;

  constructor(readonly localAddress: string, readonly remoteAddress: string) {}

  get queuedBytes(): number {
    return this.#isQueued ? this.#undelivered : 0;
  }

  write(bytes: Uint8Array): number {
    if (this.isClosed) return 0;
    const copy = bytes.slice();
    this.written.push(copy);
    this.#undelivered += copy.length;
    if (this.peer.isDeaf) this.#isQueued = true;
    this.peer.#inbox.push(copy);
    void SOON.then(() => this.peer.pump());
    return this.queuedBytes;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    void SOON.then(() => this.pump());
  }

  close(): void {
    this.terminate();
  }

  terminate(): void {
    void SOON.then(() => {
      this.end();
      this.peer.end();
    });
  }

  /** Hands over what has arrived. */
  pump(): void {
    if (this.isDeaf) return;
    while (!this.isPaused && !this.isClosed && this.#inbox.length > 0) {
      const chunk = this.#inbox.shift()!;
      this.peer.#undelivered -= chunk.length;
      this.events.onData(chunk);
      if (this.peer.#isQueued && this.peer.#undelivered === 0) {
        this.peer.#isQueued = false;
        this.peer.events.onDrain();
      }
    }
  }

  end(): void {
    if (this.isClosed) return;
    this.pump();
    this.isClosed = true;
    this.events.onClose(null);
  }
}

/** All ports of one test. */
export class MemoryNetwork implements Network {
  readonly #ports = new Map<
    number,
    (connection: Connection) => ConnectionEvents
  >();
  /** Every accepted end, in order. */
  readonly accepted: MemoryConnection[] = [];
  /** True: connecting takes for ever. */
  isBlackHole = false;
  #nextPort = 40_000;

  listen(
    at: Endpoint,
    accept: (connection: Connection) => ConnectionEvents,
  ): Promise<Listener> {
    const port = at.port === 0 ? this.#nextPort++ : at.port;
    this.#ports.set(port, accept);
    return Promise.resolve({
      hostname: at.hostname,
      port,
      close: () => {
        this.#ports.delete(port);
        for (const it of this.accepted) it.terminate();
        return Promise.resolve();
      },
    });
  }

  connect(
    to: Endpoint,
    events: ConnectionEvents,
  ): Promise<MemoryConnection> {
    const accept = this.#ports.get(to.port);
    if (this.isBlackHole) return new Promise(() => {});
    if (accept === undefined) {
      return Promise.reject(
        Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
      );
    }
    const here = `127.0.0.1:${this.#nextPort++}`;
    const there = `${to.hostname}:${to.port}`;
    const client = new MemoryConnection(here, there);
    const server = new MemoryConnection(there, here);
    client.peer = server;
    server.peer = client;
    client.events = events;
    this.accepted.push(server);
    server.events = accept(server);
    return Promise.resolve(client);
  }
}
