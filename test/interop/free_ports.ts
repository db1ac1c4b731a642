/** Ports for programs that cannot be told to take a free one. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ports that kernels give away for 0, so that nobody takes one meanwhile. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/** A free port `p` whose neighbours `p + offset` are free as well. */
export async function freePort(offsets: number[] = []): Promise<number> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const bound = await Promise.all(
      [0, ...offsets].map((offset) => canBind(port + offset)),
    );
    if (bound.every((it) => it)) return port;
  }
  throw new Error(`No free port with free neighbours ${offsets}`);
}

/** Binds all interfaces, as Apache's servers do, and lets go. */
function canBind(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "0.0.0.0", () => server.close(() => resolve(true)));
  });
}
