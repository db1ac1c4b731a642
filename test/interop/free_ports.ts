/** Ports for programs that cannot be told to take a free one. */
import { createServer } from "node:net";

/** A free port `p` whose neighbours `p + offset` are free as well. */
export async function freePort(offsets: number[] = []): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = await boundPort(0);
    if (port === null || port < 20_000 || port > 65_000) continue;
    const taken = await Promise.all(
      offsets.map((offset) => boundPort(port + offset)),
    );
    if (taken.every((it) => it !== null)) return port;
  }
  throw new Error(`No free port with free neighbours ${offsets}`);
}

/** Binds all interfaces, as Apache's servers do, and lets go; null when taken. */
function boundPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(null));
    server.listen(port, "0.0.0.0", () => {
      const bound = server.address();
      const got = typeof bound === "object" && bound ? bound.port : null;
      server.close(() => resolve(got));
    });
  });
}
