/** clientTlsOf: whether and how the tools encrypt, by flags and variables. */
import { ConfigError } from "../config/config_error.ts";
import { environmentNameOf } from "../config/config_sources.ts";
import type { Logger } from "../io/logger.ts";
import type { TlsSource } from "../remoting/entrance/tls_ports.ts";
import type { CliContext } from "./cli_context.ts";
import type { ClientFlags } from "./options.ts";

/** Undefined: connections are plain. Throws ConfigError. */
export async function clientTlsOf(
  context: CliContext,
  flags: ClientFlags,
  logger: Logger,
): Promise<TlsSource | undefined> {
  const settings = [
    ...(flags.tls || flags.tlsConfig !== undefined
      ? [{ key: "useTLS", value: "true", label: "--tls" }]
      : []),
    ...(flags.tlsConfig === undefined ? [] : [{
      key: "tls.config.file",
      value: flags.tlsConfig,
      label: "--tls-config",
    }]),
  ];
  const { env } = context.process;
  const isAsked = settings.length > 0 ||
    ["useTLS", "tls.enable"].some((it) => env[environmentNameOf(it)]);
  if (!isAsked) return undefined;
  const { loadConfig } = await import("../config/config_loader.ts");
  const { TLS_KEYS, tlsErrors } = await import("../config/tls_keys.ts");
  const { withTlsFile } = await import("./config_input.ts");
  const { openToolTls } = await import("./process_tls.ts");
  const loaded = loadConfig(TLS_KEYS, withTlsFile(context, { env, settings }));
  const [wrong] = tlsErrors(loaded.values, loaded.origins)
    .filter(({ key }) => key.startsWith("tls.client."));
  if (wrong instanceof ConfigError) throw wrong;
  return await openToolTls(context.runtime, loaded, logger);
}
