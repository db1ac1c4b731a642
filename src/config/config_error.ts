/** ConfigError: a configuration that cannot be used; the process ends with exit code 2. */

/** Where a value came from. */
export interface ConfigOrigin {
  readonly kind: "default" | "file" | "environment" | "flag" | "live";
  /** `default`, `broker.conf:12`, `POCKETMQ_LISTEN_PORT`, `--set`. */
  readonly label: string;
}

/** One sentence: which key, which value, from where, and what to do. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** Whatever else is wrong in the same configuration. */
  others: readonly ConfigError[] = [];
  /** What looked odd beside, a sentence each. */
  warnings: readonly string[] = [];
  constructor(
    readonly key: string,
    readonly value: string,
    readonly hint: string,
    readonly origin?: ConfigOrigin,
  ) {
    const from = origin === undefined || origin.kind === "default"
      ? ""
      : ` from ${origin.label}`;
    super(
      value === ""
        ? `Cannot use ${key}${from}: ${hint}`
        : `Cannot use ${key}=${value}${from}: ${hint}`,
    );
  }
}

/** Throws the first of several, with the rest as its `others`. */
export function throwFirst(
  errors: readonly ConfigError[],
  warnings: readonly string[] = [],
): void {
  const [first, ...others] = errors;
  if (first === undefined) return;
  first.others = others;
  first.warnings = warnings;
  throw first;
}
