/**
 * ConfigManager: keeps one table of the broker in one JSON file.
 *
 * Invariants
 * - At most one write is in flight; changes made meanwhile go with the next one, together.
 * - `persist` resolves only when every change made before the call is durable.
 * - A write that failed stays owed and is tried again.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";

/** What managers need of a JsonFile. */
export interface MetadataFile {
  /** Undefined when neither the file nor its backup could be parsed. */
  read<T>(parse: (text: string) => T): T | undefined;
  /** True when the content came from the backup or was lost. */
  readonly isDegraded: boolean;
  /** Replaces the whole file, durably. */
  write(text: string): Promise<void>;
}

/** What every manager with a file gets. */
export interface BrokerManagerPorts {
  readonly file: MetadataFile;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Milliseconds between two attempts to write what could not be written. */
const RETRY_INTERVAL_MS = 5_000;

/** Writes one table. */
export class ConfigManager {
  readonly #ports: BrokerManagerPorts;
  readonly #name: string;
  readonly #encode: () => string;
  #changeCount = 0;
  #storedCount = 0;
  #writing: Promise<void> | undefined;
  #failedMs: number | undefined;

  /** `name` is the file's name in log lines; `encode` gives its whole text. */
  constructor(ports: BrokerManagerPorts, name: string, encode: () => string) {
    this.#ports = ports;
    this.#name = name;
    this.#encode = encode;
  }

  /** True while a change is not durable yet. */
  get isChanged(): boolean {
    return this.#storedCount < this.#changeCount;
  }

  /** Notes a change; the caller says when it is written. */
  markChanged(): void {
    this.#changeCount++;
  }

  /** Notes a change and begins to write it. */
  changed(): void {
    this.#changeCount++;
    this.persistSoon();
  }

  /** Begins to write what is owed; a failure is logged and tried again by `tick`. */
  persistSoon(): void {
    this.persist().catch(() => {
      // #write has logged it.
    });
  }

  /** Resolves when all changes so far are durable; rejects with what the disk said. */
  async persist(): Promise<void> {
    const wanted = this.#changeCount;
    while (this.#storedCount < wanted) {
      this.#writing ??= this.#write();
      await this.#writing;
    }
  }

  /**
   * Writes `text` instead of what memory holds and, once it is durable, runs
   * `take`, which puts it into memory. Changes made meanwhile are in memory
   * only: `take` keeps them, and they are written next. Rejects with what the
   * disk said, and then takes nothing.
   */
  async replace(text: string, take: () => void): Promise<void> {
    while (this.#writing !== undefined) {
      await this.#writing.catch(() => {
        // Whoever asked for that write was told; this one replaces it.
      });
    }
    this.#writing = this.#replace(text, take);
    await this.#writing;
    if (this.isChanged) this.persistSoon();
  }

  /** Tries a failed write again; `nowMs` is monotonic. */
  tick(nowMs: number): void {
    if (this.#failedMs === undefined || this.#writing !== undefined) return;
    if (nowMs - this.#failedMs >= RETRY_INTERVAL_MS) this.persistSoon();
  }

  /**
   * Reads the file and hands what it held to `take`; a file that is missing or
   * of no use is not taken. Never throws. What came from the backup is written
   * anew, so that the main file is whole again.
   */
  load<T>(parse: (text: string) => T, take: (loaded: T) => void): void {
    try {
      const loaded = this.#ports.file.read(parse);
      if (loaded !== undefined) take(loaded);
    } catch (error) {
      this.#ports.logger.error(`${this.#name} could not be read`, {
        error: String(error),
      });
    }
    if (this.#ports.file.isDegraded) this.changed();
  }

  async #replace(text: string, take: () => void): Promise<void> {
    const count = this.#changeCount;
    try {
      await this.#ports.file.write(text);
      this.#storedCount = Math.max(this.#storedCount, count);
      take();
    } finally {
      this.#writing = undefined;
    }
  }

  async #write(): Promise<void> {
    const count = this.#changeCount;
    try {
      await this.#ports.file.write(this.#encode());
      this.#storedCount = count;
      this.#failedMs = undefined;
    } catch (error) {
      if (this.#failedMs === undefined) {
        this.#ports.logger.error(`${this.#name} could not be written`, {
          error: String(error),
        });
      }
      this.#failedMs = this.#ports.clock.monotonicMs();
      throw error;
    } finally {
      this.#writing = undefined;
    }
  }
}
