/** TcpProxy: a path between two programs that can vanish without a word from TCP. */
import { connect, createServer, type Server, type Socket } from "node:net";

/** Started by `start`, gone after `stop`. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isBlackhole = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens on `host:port` and forwards to `target`. */
  static start(
    at: { host: string; port: number },
    target: { host: string; port: number },
  ): Promise<TcpProxy> {
    return new Promise((resolve, reject) => {
      const server = createServer((near) => {
        const far = connect(target.port, target.host);
        proxy.#join(near, far);
      });
      const proxy = new TcpProxy(server);
      server.once("error", reject);
      server.listen(at.port, at.host, () => resolve(proxy));
    });
  }

  get address(): string {
    const bound = this.#server.address();
    if (bound === null || typeof bound === "string") throw new Error("Closed");
    return `${bound.address}:${bound.port}`;
  }

  /** From now on every byte is lost, and no end is told to either side. */
  blackhole(): void {
    this.#isBlackhole = true;
    // What is not read is neither acknowledged for long nor answered.
    for (const it of this.#sockets) it.pause();
  }

  /** Connections that vanished stay dead; new ones pass. */
  heal(): void {
    this.#isBlackhole = false;
    for (const it of this.#sockets) it.destroy();
  }

  stop(): Promise<void> {
    for (const it of this.#sockets) it.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [[near, far], [far, near]] as const) {
      this.#sockets.add(from);
      if (this.#isBlackhole) from.pause();
      from.on("error", () => {});
      from.on("data", (bytes) => {
        if (!this.#isBlackhole) to.write(bytes);
      });
      from.on("close", () => {
        this.#sockets.delete(from);
        if (!this.#isBlackhole) to.destroy();
      });
    }
  }
}
