/** RegisteredNamesrv: what a broker knows of one name server that it registers with. */

/**
 * Milliseconds from the beginning of one attempt to the next: a name server that comes back has
 * its routes again within two seconds, however long it was away.
 */
export const RETRY_MS = 1_000;

/** Changed by BrokerRegistration only. */
export class RegisteredNamesrv {
  isRegistered = false;
  /** Answers 904; a 4.x name server does not. */
  takesHeartbeats = true;
  lastRegisteredMs: number | null = null;
  lastError: string | null = null;
  /** When an unregistered one is tried next; this and the others below are monotonic. */
  retryMs = 0;
  periodMs = 0;
  heartbeatMs = 0;
  /** Topics changed since they were told; null: everything. */
  changes: Set<string> | null = new Set();
  running: Promise<void> | undefined;

  constructor(readonly address: string) {}
}

/** The addresses of a `;` list, without doubles. */
export function addressesOf(namesrvAddr: string): string[] {
  const parts = namesrvAddr.split(";").map((it) => it.trim());
  return [...new Set(parts.filter((it) => it !== ""))];
}
