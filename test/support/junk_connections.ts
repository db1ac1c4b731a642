/** Connections of probes and scanners: a word or none, then a reset. */
import { connect } from "node:net";

/** Connects from anywhere in 127/8, writes junk or nothing, and resets. */
function junkConnect(port: number, number: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({
      host: "127.0.0.1",
      port,
      localAddress: `127.${number % 200}.${number % 251}.${1 + number % 253}`,
    }, () => {
      if (number % 2 === 0) socket.write("GET / HTTP/1.1\r\n\r\n");
      socket.resetAndDestroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}

/** Makes `count` of them, a hundred at a time. */
export async function junkConnections(
  port: number,
  count: number,
): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    await Promise.all(
      Array.from(
        { length: 100 },
        (_, index) => junkConnect(port, from + index),
      ),
    );
  }
}
