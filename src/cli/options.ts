/** Options that mean the same in every command. */
import { Command, InvalidArgumentError } from "commander";

/** Options of commands that ask a name server or a broker. */
export interface ClientFlags {
  readonly namesrv?: string;
  readonly credentials?: string;
  readonly tls?: boolean;
  readonly tlsConfig?: string;
  readonly json?: boolean;
}

/** Options of commands that start a server. */
export interface ServerFlags {
  readonly config?: string;
  readonly namesrv?: string;
  readonly set: readonly string[];
  readonly store?: string;
  readonly listenPort?: string;
  readonly namesrvPort?: string;
  readonly adminPort?: string;
  readonly bind?: string;
  readonly json?: boolean;
}

/** Collects a repeatable option. */
export function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

/** A whole number within bounds, for an option or argument. */
export function wholeNumber(
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(
      max === Number.MAX_SAFE_INTEGER
        ? `Give a whole number of ${min} or more.`
        : `Give a whole number from ${min} to ${max}.`,
    );
  };
}

/** A new subcommand. */
export function commandOf(name: string, description: string): Command {
  return new Command(name).description(description);
}

/** `--json`. */
export function withJson(command: Command): Command {
  return command.option("--json", "print JSON");
}

/** `-n`, `--json`. */
export function withClientFlags(command: Command): Command {
  return withJson(
    command
      .option(
        "-n, --namesrv <addresses>",
        "name servers, host:port separated by ; (else NAMESRV_ADDR, else 127.0.0.1:9876)",
      )
      .option(
        "--credentials <file>",
        "accessKey and secretKey, as Apache's tools.yml (else POCKETMQ_ACCESS_KEY and POCKETMQ_SECRET_KEY)",
      )
      .option("--tls", "encrypt connections (else POCKETMQ_USE_TLS)")
      .option(
        "--tls-config <file>",
        "encrypt as the tls.client. keys of a file say, as Apache's tls.properties",
      ),
  );
}

/** `-c`, `--set`, `--json`. */
export function withServerFlags(command: Command, file: string): Command {
  return withJson(
    command
      .option("-c, --config <file>", `properties file, as Apache's ${file}`)
      .option(
        "--set <key=value>",
        "any configuration key (repeatable)",
        collect,
        [],
      ),
  );
}
