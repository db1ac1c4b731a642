/** LogtapeLogger: the Logger port over LogTape, lines to standard error. */
import {
  configureSync,
  getLogger,
  type Logger as Logtape,
  type LogRecord,
} from "@logtape/logtape";
import type { LogFields, Logger } from "../io/logger.ts";
import { formatJsonLine, formatTextLine } from "./log_format.ts";
import { writeStream } from "./node_streams.ts";
import type { LogOptions } from "./runtime.ts";

const ROOT_CATEGORY = "pocketmq";
const NO_FIELDS: LogFields = {};

class LogtapeLogger implements Logger {
  readonly #logtape: Logtape;

  constructor(logtape: Logtape) {
    this.#logtape = logtape;
  }

  debug(message: string, fields: LogFields = NO_FIELDS): void {
    this.#logtape.debug(message, fields);
  }

  info(message: string, fields: LogFields = NO_FIELDS): void {
    this.#logtape.info(message, fields);
  }

  warn(message: string, fields: LogFields = NO_FIELDS): void {
    this.#logtape.warn(message, fields);
  }

  error(message: string, fields: LogFields = NO_FIELDS): void {
    this.#logtape.error(message, fields);
  }

  child(category: string): Logger {
    return new LogtapeLogger(this.#logtape.getChild(category));
  }
}

/** Sets the process's log up (again) and returns its root. */
export function openLogtapeLogger(
  options: LogOptions,
  isTerminal: boolean,
): Logger {
  const format = options.format === "json"
    ? formatJsonLine
    : (record: LogRecord) => formatTextLine(record, isTerminal);
  const encoder = new TextEncoder();
  configureSync({
    reset: true,
    sinks: {
      stderr: (it) => void writeStream("stderr", encoder.encode(format(it))),
    },
    loggers: [
      {
        category: ROOT_CATEGORY,
        lowestLevel: options.level === "warn" ? "warning" : options.level,
        sinks: ["stderr"],
      },
      {
        category: ["logtape", "meta"],
        lowestLevel: "error",
        sinks: ["stderr"],
      },
    ],
  });
  return new LogtapeLogger(getLogger(ROOT_CATEGORY));
}
