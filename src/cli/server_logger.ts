/** serverLogger: the logger of a server, and the warnings that a configuration raised. */
import type { LogValues } from "../config/broker_config.ts";
import type { Logger } from "../io/logger.ts";
import type { CliContext } from "./cli_context.ts";
import { type ServerListener, strangersOf } from "./serve.ts";

/** Opens the logger that `logLevel` and `logFormat` describe. */
export function serverLogger(context: CliContext, log: LogValues): Logger {
  const format = log.logFormat === "auto"
    ? context.process.isTerminal("stderr") ? "text" : "json"
    : log.logFormat;
  return context.runtime.openLogger({ level: log.logLevel, format });
}

/** One line per odd key. */
export function logConfigWarnings(
  logger: Logger,
  warnings: readonly string[],
): void {
  const configLogger = logger.child("config");
  for (const warning of warnings) configLogger.warn(warning);
}

/** One line per port that other machines can reach. */
export function warnOfStrangers(
  logger: Logger,
  listeners: readonly ServerListener[],
): void {
  const portLogger = logger.child("ports");
  for (const { name, bound } of strangersOf(listeners)) {
    portLogger.warn(
      name === "admin"
        ? `The admin port ${bound} can be reached from other machines; it asks for adminToken, and is not encrypted`
        : `Port ${bound} (${name}) can be reached from other machines and asks nobody who they are`,
    );
  }
}
