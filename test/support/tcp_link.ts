/** TcpLink: the wire between two processes; a test cuts, blackholes or slows it. */
import { connect, createServer, type Server, type Socket } from "node:net";

/** How often a slow link passes bytes on. */
const SLOW_STEP_MS = 50;

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
  /** In each direction, of connections made from now on; null: as fast as it goes. */
  bytesPerSecond: number | null = null;
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
    const slow = this.bytesPerSecond === null
      ? undefined
      : new SlowPipe(from, to, this.bytesPerSecond);
    from.on("data", (bytes) => {
      if (this.#isBlackholed) return;
      count(bytes.length);
      if (slow !== undefined) slow.push(bytes as Uint8Array);
      else if (!to.write(bytes)) {
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

/** Passes bytes on at a steady rate, and reads no more than a second's worth ahead. */
class SlowPipe {
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  constructor(
    private readonly from: Socket,
    private readonly to: Socket,
    private readonly bytesPerSecond: number,
  ) {
    let lastMs = performance.now();
    let allowed = 0;
    const timer = setInterval(() => {
      const nowMs = performance.now();
      allowed += (nowMs - lastMs) * bytesPerSecond / 1000;
      lastMs = nowMs;
      allowed -= this.#pass(Math.floor(allowed));
      // What nobody sent is not saved up.
      if (this.#waitingBytes === 0) allowed = Math.min(allowed, 1);
    }, SLOW_STEP_MS);
    from.on("close", () => clearInterval(timer));
  }

  push(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > this.bytesPerSecond) this.from.pause();
  }

  #pass(bytesMax: number): number {
    let passed = 0;
    while (passed < bytesMax && this.#waiting.length > 0) {
      const head = this.#waiting[0]!;
      const part = head.subarray(0, bytesMax - passed);
      this.to.write(part);
      passed += part.length;
      if (part.length === head.length) this.#waiting.shift();
      else this.#waiting[0] = head.subarray(part.length);
    }
    this.#waitingBytes -= passed;
    if (this.#waitingBytes <= this.bytesPerSecond) this.from.resume();
    return passed;
  }
}

function swallow(socket: Socket): Socket {
  socket.on("error", () => {});
  return socket.resume();
}
