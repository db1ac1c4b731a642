/** CliError: how a command says no; becomes one sentence on standard error and an exit code. */

import { escaped } from "../base/escaped.ts";
import { ConfigError } from "../config/config_error.ts";

/** 1: it was tried and failed. 2: it could not be tried (usage, configuration). */
export type FailureCode = 1 | 2;

/** A sentence for the person who typed the command. */
export class CliError extends Error {
  override readonly name = "CliError";
  constructor(
    message: string,
    readonly exitCode: FailureCode = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The exit code and sentence of anything thrown by a command. */
export function failureOf(error: unknown): {
  readonly exitCode: FailureCode;
  readonly sentence: string;
} {
  if (error instanceof CliError) {
    return { exitCode: error.exitCode, sentence: oneLine(error.message) };
  }
  if (!(error instanceof Error)) {
    return { exitCode: 1, sentence: oneLine(String(error)) };
  }
  return hasKey(error)
    ? { exitCode: 2, sentence: oneLine(startSentence(error)) + more(error) }
    : { exitCode: 1, sentence: oneLine(error.message) };
}

/** ConfigError, BrokerStartError, StoreStartError: they name the key that has to change. */
interface KeyedError extends Error {
  readonly key: string;
  readonly value?: unknown;
  readonly cure?: unknown;
}

function hasKey(error: Error): error is KeyedError {
  return typeof (error as Partial<KeyedError>).key === "string";
}

/** The message, completed by key, value and cure where it does not hold them yet. */
function startSentence(error: KeyedError): string {
  const { key, value, cure, message } = error;
  const setting = `${key}=${value}`;
  const named = message.includes(setting) || typeof value !== "string"
    ? message
    : `${message} (${setting})`;
  return typeof cure !== "string" || named.includes(cure)
    ? named
    : `${named}; ${cure}`;
}

/** Whoever starts a server should not have to find its wrong keys one by one. */
function more(error: Error): string {
  const count = error instanceof ConfigError ? error.others.length : 0;
  return count === 0 ? "" : ` (${count} more: see pocketmq check-config)`;
}

function oneLine(message: string): string {
  return escaped(message.replace(/\s*\n\s*/g, " ").trim());
}
