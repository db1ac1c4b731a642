/** host:port texts. */

/** `host:port`; IPv6 in brackets. */
export function hostPort(hostname: string, port: number): string {
  return hostname.includes(":")
    ? `[${hostname}]:${port}`
    : `${hostname}:${port}`;
}

/** An address that reaches a port bound on `hostname` from this machine. */
export function reachable(hostname: string): string {
  if (hostname === "0.0.0.0") return "127.0.0.1";
  return hostname === "::" ? "::1" : hostname;
}
