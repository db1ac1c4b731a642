/** LogLimiter: at most one line of a kind per interval, whoever causes it. */
import type { Clock } from "../io/clock.ts";
import type { LogFields, Logger } from "../io/logger.ts";

const INTERVAL_MS = 10_000;
/** Kinds beyond share one slot, so that the state stays bounded. */
const KINDS_MAX = 256;

interface Slot {
  nextMs: number;
  suppressed: number;
}

/** Warnings that strangers can provoke at will. */
export class LogLimiter {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #slots = new Map<string, Slot>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Writes the line, or counts it for the next one of its kind. */
  warn(kind: string, message: string, fields: LogFields = {}): void {
    const slot = this.#slot(kind);
    const monotonicMs = this.#clock.monotonicMs();
    if (monotonicMs < slot.nextMs) {
      slot.suppressed++;
      return;
    }
    const { suppressed } = slot;
    slot.nextMs = monotonicMs + INTERVAL_MS;
    slot.suppressed = 0;
    this.#logger.warn(
      message,
      suppressed > 0 ? { ...fields, suppressed } : fields,
    );
  }

  #slot(kind: string): Slot {
    const key = this.#slots.has(kind) || this.#slots.size < KINDS_MAX
      ? kind
      : "other";
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = { nextMs: -Infinity, suppressed: 0 };
      this.#slots.set(key, slot);
    }
    return slot;
  }
}
