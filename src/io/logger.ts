/** Logger: structured lines, one event each. */

/** Values that a log line carries beside its sentence. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes lines of one category. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger of the category below this one, as `broker.ha`. */
  child(category: string): Logger;
}
