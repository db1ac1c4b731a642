/** `pocketmq check-config`: validates a file, prints effective values and where each came from. */
import { type Command, Option } from "commander";
import { ConfigError } from "../config/config_error.ts";
import { type CliContext, printLine, printWarning } from "./cli_context.ts";
import { collect, commandOf, type ServerFlags, withJson } from "./options.ts";
import type { TlsConfig } from "./process_tls.ts";

interface CheckConfigFlags {
  readonly as: "broker" | "standalone" | "namesrv";
  readonly set: readonly string[];
  readonly given?: boolean;
  readonly json?: boolean;
}

/** The definition. */
export function checkConfigCommand(context: CliContext): Command {
  return withJson(commandOf(
    "check-config",
    "validate a file, print effective values and their origin",
  ))
    .argument("<file>", "broker.conf or namesrv.conf")
    .addOption(
      new Option("--as <program>", "which program reads it")
        .choices(["broker", "standalone", "namesrv"]).default("broker"),
    )
    .option("--set <key=value>", "as for the program", collect, [])
    .option("--given", "leave out defaults")
    .action(async (file: string, flags: CheckConfigFlags) => {
      await checkConfig(context, file, flags);
    });
}

async function checkConfig(
  context: CliContext,
  file: string,
  flags: CheckConfigFlags,
): Promise<void> {
  const input = await import("./config_input.ts");
  const { configurationEntries } = await import(
    "../config/configuration_entry.ts"
  );
  const checked = await loaded(context, file, flags);
  if (checked instanceof ConfigError) {
    await printErrors(context, file, flags, checked);
    return;
  }
  const { keys, config, namesrv } = checked;
  const entries = [
    ...configurationEntries(keys, config),
    ...(namesrv === null ? [] : configurationEntries(
      namesrv.keys,
      namesrv.config,
    )),
  ];
  const shown = flags.given === true
    ? entries.filter((it) => it.origin !== "default")
    : entries;
  const { printJson, tableText } = await import("./output.ts");
  if (flags.json === true) {
    printJson(context, {
      file,
      valid: true,
      warnings: config.warnings,
      entries: shown,
    });
    return;
  }
  for (const warning of config.warnings) printWarning(context, warning);
  printLine(
    context,
    tableText(
      ["KEY", "VALUE", "UNIT", "FROM", "LIVE"],
      shown.map((it) => [
        it.key,
        it.value,
        it.unit,
        it.origin,
        it.isLive ? "yes" : "no",
      ]),
    ),
  );
  printLine(context, `${input.readConfigFile(context, file).name} is valid`);
}

/** The configuration, or what is wrong with it. */
async function loaded(
  context: CliContext,
  file: string,
  flags: CheckConfigFlags,
) {
  try {
    const server: ServerFlags = { config: file, set: flags.set };
    const checked = flags.as === "namesrv"
      ? await namesrvConfig(context, server)
      : await brokerConfig(context, server, flags.as);
    await checkTls(context, checked.config);
    return checked;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** Certificates and keys are looked at, too. Throws ConfigError. */
async function checkTls(
  { runtime }: CliContext,
  config: TlsConfig,
): Promise<void> {
  const { openProcessTls } = await import("./process_tls.ts");
  const warnings = runtime.openLogger({ level: "warn", format: "text" });
  (await openProcessTls(runtime, config, warnings.child("tls"))).close();
}

/** One line each on standard error, or one JSON object. */
async function printErrors(
  context: CliContext,
  file: string,
  flags: CheckConfigFlags,
  first: ConfigError,
): Promise<void> {
  context.exitCode = 2;
  const errors = [first, ...first.others];
  if (flags.json !== true) {
    for (const { message } of errors) printWarning(context, message);
    for (const warning of first.warnings) printWarning(context, warning);
    return;
  }
  const { printJson } = await import("./output.ts");
  printJson(context, {
    file,
    valid: false,
    warnings: first.warnings,
    errors: errors.map((it) => ({
      key: it.key,
      value: it.value,
      origin: it.origin?.label ?? null,
      message: it.hint,
    })),
  });
}

async function brokerConfig(
  context: CliContext,
  flags: ServerFlags,
  program: "broker" | "standalone",
) {
  const input = await import("./config_input.ts");
  const { BROKER_PROGRAM_KEYS, loadBrokerConfig } = await import(
    "../config/broker_config.ts"
  );
  const config = loadBrokerConfig(
    input.brokerInput(context, flags),
    program === "broker" ? "apache" : "standalone",
    input.hostFacts(context),
  );
  const { STANDALONE_NAMESRV_KEYS } = await import("../config/namesrv_keys.ts");
  return {
    keys: BROKER_PROGRAM_KEYS,
    config,
    namesrv: config.namesrv === null
      ? null
      : { keys: STANDALONE_NAMESRV_KEYS, config: config.namesrv },
  };
}

async function namesrvConfig(context: CliContext, flags: ServerFlags) {
  const input = await import("./config_input.ts");
  const { loadNamesrvConfig, NAMESRV_PROGRAM_KEYS } = await import(
    "../config/namesrv_config.ts"
  );
  const config = loadNamesrvConfig(
    input.namesrvInput(context, flags),
    input.hostFacts(context),
  );
  return { keys: NAMESRV_PROGRAM_KEYS, config, namesrv: null };
}
