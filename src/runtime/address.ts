/** Addresses as text, and what a failed bind or connect says to a person. */
import { isIP } from "node:net";
import type { Endpoint } from "../io/network.ts";

const IPV4_MAPPED = "::ffff:";

/** `host:port`; IPv6 in brackets; an IPv4-mapped address as IPv4. */
export function addressText(host: string, port: number): string {
  const isMapped = host.startsWith(IPV4_MAPPED) && host.includes(".");
  const plain = isMapped ? host.slice(IPV4_MAPPED.length) : host;
  return plain.includes(":") ? `[${plain}]:${port}` : `${plain}:${port}`;
}

const LISTEN_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use; end its owner or choose another port",
  EACCES: "this user may not bind the port; choose one above 1023",
  EADDRNOTAVAIL: "no interface of this machine has that address",
  ENOTFOUND: "the name cannot be resolved",
};

/** Codes that are to be believed for a host name; the runtimes have none for one that is unknown. */
const LISTEN_CODES: ReadonlySet<string> = new Set([
  ...Object.keys(LISTEN_ADVICE),
  "EMFILE",
  "ENFILE",
]);

const CONNECT_ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ENOTFOUND: "the name cannot be resolved",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to its network",
  ETIMEDOUT: "the host did not answer",
};

/** An Error with `code` that names the address and the cure. */
export function listenError(at: Endpoint, code: string, cause: unknown): Error {
  const isKnown = LISTEN_CODES.has(code) || isIP(at.hostname) !== 0;
  const known = isKnown ? code : "ENOTFOUND";
  return networkError("listen on", at, known, LISTEN_ADVICE, cause);
}

/** An Error with `code` that names the address and the reason. */
export function connectError(
  to: Endpoint,
  code: string,
  cause: unknown,
): Error {
  return networkError("connect to", to, code, CONNECT_ADVICE, cause);
}

function networkError(
  action: string,
  endpoint: Endpoint,
  code: string,
  advice: Readonly<Record<string, string>>,
  cause: unknown,
): Error {
  const address = addressText(endpoint.hostname, endpoint.port);
  const reason = advice[code] ??
    (cause instanceof Error ? cause.message : String(cause));
  const message = `Cannot ${action} ${address}: ${reason} (${code})`;
  return Object.assign(new Error(message, { cause }), { code });
}
