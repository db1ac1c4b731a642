/** listenSentence: a port that cannot be bound, as an error that names key, value and cure. */
import { ConfigError } from "../config/config_error.ts";

/** Waits for a listener; a refusal becomes a ConfigError about `key`. */
export async function listening<T>(
  key: string,
  port: number,
  addressKey: string,
  hostname: string,
  bind: () => Promise<T>,
): Promise<T> {
  try {
    return await bind();
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code;
    if (code === "EADDRINUSE") {
      throw new ConfigError(
        key,
        String(port),
        `the port is in use on ${hostname}; stop the program that holds it, or give another port (0 takes a free one)`,
      );
    }
    if (code === "EACCES") {
      throw new ConfigError(
        key,
        String(port),
        "the system does not permit it; give a port above 1023",
      );
    }
    if (code === "EADDRNOTAVAIL") {
      throw new ConfigError(
        addressKey,
        hostname,
        "this machine has no such address; give one of its own, or 127.0.0.1",
      );
    }
    if (code === "ENOTFOUND") {
      throw new ConfigError(
        addressKey,
        hostname,
        "the name cannot be resolved; give an address of this machine, or 127.0.0.1",
      );
    }
    throw error;
  }
}
