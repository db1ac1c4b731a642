/** The stock clients that are tested: the last 4.9 and the newest 5.x on Maven. */
export const ROCKETMQ_VERSIONS = ["4.9.8", "5.5.0"] as const;

/**
 * Apache's servers and tools: 4.9.7 is the newest 4.9 whose broker and name
 * server are on Maven Central (4.9.8 has only its client there).
 */
export const APACHE_SERVER_VERSIONS = ["4.9.7", "5.5.0"] as const;

/** A broker that fails as a slave of a master that has topics with attributes. */
export const ATTRIBUTES_TROUBLED_VERSION = "5.3.3";

/** The stock client that goes with a server's version. */
export function driverVersionOf(serverVersion: string): string {
  return serverVersion === "4.9.7" ? "4.9.8" : "5.5.0";
}

/** Apache's tools that go with a stock client. */
export function toolsOf(version: string): string {
  return version === "4.9.8" ? "4.9.7" : "5.5.0";
}

/** True for 5.x. */
export function isModern(version: string): boolean {
  return !version.startsWith("4.");
}
