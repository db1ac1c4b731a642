/**
 * Keys of TLS: the system properties of Apache's TlsSystemConfig, and what its file
 * tls.properties may hold. They may stand in broker.conf and namesrv.conf as well.
 */
import { ConfigError, type ConfigOrigin } from "./config_error.ts";
import { choice, flag, text, type ValuesOf } from "./config_key.ts";

/** Where Apache looks. */
export const TLS_CONFIG_FILE = "/etc/rocketmq/tls.properties";

/** What a server shows and asks for, and what this process shows and asks for as a client. */
export const TLS_KEYS = {
  "tls.server.mode": choice(
    ["disabled", "permissive", "enforcing"],
    "permissive",
    "disabled: plain text only; permissive: plain text and TLS on the same ports; enforcing: TLS only",
  ),
  "tls.test.mode.enable": flag(
    true,
    "Without tls.server.keyPath: a certificate that nobody signed is made when the first client asks for TLS",
  ),
  "tls.server.keyPath": text(
    "",
    "Private key in PEM, read again when it changes",
  ),
  "tls.server.keyPassword": text("", "Password of tls.server.keyPath", {
    isSecret: true,
  }),
  "tls.server.certPath": text(
    "",
    "Certificate in PEM, with those that lead to a trusted one; read again when it changes",
  ),
  "tls.server.need.client.auth": choice(
    ["none", "optional", "require"],
    "none",
    "Whether clients show a certificate",
  ),
  "tls.server.authClient": flag(
    false,
    "A client's certificate must be signed by one of tls.server.trustCertPath",
  ),
  "tls.server.trustCertPath": text(
    "",
    "Certificates in PEM of those who sign clients; read again when it changes",
  ),
  useTLS: flag(
    false,
    "Own connections, to name servers and other brokers, are encrypted; by default with tls.server.mode=enforcing",
    { aliases: ["tls.enable"] },
  ),
  "tls.client.keyPath": text("", "Private key in PEM that this process shows"),
  "tls.client.keyPassword": text("", "Password of tls.client.keyPath", {
    isSecret: true,
  }),
  "tls.client.certPath": text("", "Certificate in PEM that this process shows"),
  "tls.client.authServer": flag(
    false,
    "A server's certificate must be signed by one of tls.client.trustCertPath",
  ),
  "tls.client.trustCertPath": text(
    "",
    "Certificates in PEM of those who sign servers; empty: public authorities",
  ),
  "tls.config.file": text(
    "",
    `A file that holds tls. keys, as Apache's; empty: ${TLS_CONFIG_FILE} where it exists`,
  ),
} as const;

/** Values by key. */
export type TlsValues = ValuesOf<typeof TLS_KEYS>;

/** Keys that decide who may come in: nobody changes them from outside. */
export const TLS_KEY_NAMES: readonly string[] = Object.keys(TLS_KEYS);

type Origins = Readonly<Record<string, ConfigOrigin>>;

/** `useTLS` where nobody has set it: a broker that takes TLS only has fellows that do. */
export function useTlsOf(values: TlsValues, origins: Origins): boolean {
  return origins.useTLS?.kind === "default"
    ? values["tls.server.mode"] === "enforcing"
    : values.useTLS;
}

/** What must hold between the keys. */
export function tlsErrors(values: TlsValues, origins: Origins): ConfigError[] {
  const errors: ConfigError[] = [];
  const refuse = (key: keyof TlsValues, hint: string): void => {
    errors.push(new ConfigError(key, String(values[key]), hint, origins[key]));
  };
  for (const side of ["server", "client"] as const) {
    const [key, certificate] = [
      `tls.${side}.keyPath`,
      `tls.${side}.certPath`,
    ] as const;
    if (values[key] !== "" && values[certificate] === "") {
      refuse(key, `set ${certificate} too: a key goes with its certificate`);
    }
    if (values[key] === "" && values[certificate] !== "") {
      refuse(certificate, `set ${key} too: a certificate goes with its key`);
    }
  }
  if (
    values["tls.server.authClient"] && values["tls.server.trustCertPath"] === ""
  ) {
    refuse(
      "tls.server.authClient",
      "set tls.server.trustCertPath: without it nobody is trusted",
    );
  }
  if (
    values["tls.server.mode"] === "enforcing" &&
    !values["tls.test.mode.enable"] && values["tls.server.keyPath"] === ""
  ) {
    refuse(
      "tls.server.mode",
      "set tls.server.keyPath and tls.server.certPath, or nobody can connect",
    );
  }
  return errors;
}
