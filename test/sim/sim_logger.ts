/** SimLogger: keeps every line for a test to look at. */
import type { LogFields, Logger } from "../../src/io/logger.ts";

export interface SimLogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  /** Dotted, as `broker.ha`; empty for the root. */
  readonly category: string;
  readonly message: string;
  readonly fields: LogFields;
}

export class SimLogger implements Logger {
  /** Shared with every child. */
  readonly lines: SimLogLine[];
  readonly #category: string;

  constructor(category = "", lines: SimLogLine[] = []) {
    this.#category = category;
    this.lines = lines;
  }

  debug(message: string, fields: LogFields = {}): void {
    this.#add("debug", message, fields);
  }

  info(message: string, fields: LogFields = {}): void {
    this.#add("info", message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#add("warn", message, fields);
  }

  error(message: string, fields: LogFields = {}): void {
    this.#add("error", message, fields);
  }

  child(category: string): SimLogger {
    const path = this.#category ? `${this.#category}.${category}` : category;
    return new SimLogger(path, this.lines);
  }

  /** Sentences of one level. */
  messages(level: SimLogLine["level"]): string[] {
    return this.lines.filter((it) => it.level === level)
      .map((it) => it.message);
  }

  #add(level: SimLogLine["level"], message: string, fields: LogFields): void {
    this.lines.push({ level, category: this.#category, message, fields });
  }
}
