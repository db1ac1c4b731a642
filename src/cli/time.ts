/** Times on the command line. */
import { CliError } from "./cli_error.ts";

/** Reads an ISO time or epoch milliseconds. Throws CliError naming the option. */
export function parseTime(option: string, text: string, also = ""): number {
  const value = /^\d{10,16}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isFinite(value)) return value;
  throw new CliError(
    `Cannot use ${option} ${text}: give ${also}a time as 2026-01-31T08:00:00Z`,
    2,
  );
}

/** ISO text; `-` when unknown. */
export function timeText(timestampMs: number): string {
  return timestampMs > 0 ? new Date(timestampMs).toISOString() : "-";
}
