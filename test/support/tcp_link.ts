/** TcpLink: the wire between two processes; a test cuts, blackholes or slows it. */
import { connect, createServer, type Server, type Socket } from "node:net";

/** One relayed connection. */
interface Relay {
  readonly near: Socket;
  readonly far: Socket;
}

/** Relays connections of its own port on 127.0.0.1 to `host:port`. */
export class TcpLink {
  readonly #server: Server;
  readonly #target: string;
  readonly #relays = new Set<Relay>();
  #isBlackholed = false;
  /** Connections taken so far. */
  accepted = 0;
  /** Bytes relayed from the target to whoever connected. */
  bytesFromTarget = 0;
  bytesToTarget = 0;

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      this.accepted++;
      if (!this.#isBlackholed) this.#relay(near);
      else this.#relays.add({ near: swallow(near), far: near });
    });
  }

  static async open(target: string): Promise<TcpLink> {
    const link = new TcpLink(target);
    await new Promise<void>((resolve) =>
      link.#server.listen(0, "127.0.0.1", resolve)
    );
    return link;
  }

  /** `host:port` to connect to. */
  get address(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("?");
    return `127.0.0.1:${address.port}`;
  }

  /** From now on both directions lose every byte, and nobody is told: no FIN, no RST. */
  blackhole(): void {
    this.#isBlackholed = true;
  }

  /** New connections work again; those that lost bytes are reset. */
  heal(): void {
    this.#isBlackholed = false;
    this.cut();
  }

  /** Resets every connection. */
  cut(): void {
    for (const { near, far } of this.#relays) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
    this.#relays.clear();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #relay(near: Socket): void {
    const [host, port] = this.#target.split(":");
    const far = connect({ host, port: Number(port), allowHalfOpen: true });
    const relay = { near, far };
    this.#relays.add(relay);
    this.#pump(far, near, (size) => this.bytesFromTarget += size);
    this.#pump(near, far, (size) => this.bytesToTarget += size);
  }

  #pump(from: Socket, to: Socket, count: (size: number) => void): void {
    from.setNoDelay(true);
    from.on("error", () => {});
    from.on("data", (bytes) => {
      if (this.#isBlackholed) return;
      count(bytes.length);
      if (!to.write(bytes)) {
        from.pause();
        to.once("drain", () => from.resume());
      }
    });
    from.on("end", () => {
      if (!this.#isBlackholed) to.end();
    });
    from.on("close", (hadError) => {
      if (this.#isBlackholed) return;
      if (hadError) to.resetAndDestroy();
      else to.end();
    });
  }
}

function swallow(socket: Socket): Socket {
  socket.on("error", () => {});
  return socket.resume();
}
