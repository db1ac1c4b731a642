/** ProcessTls: certificates and keys of one process, as its servers and clients need them. */
import { ConfigError, type ConfigOrigin } from "../config/config_error.ts";
import type { TlsValues } from "../config/tls_keys.ts";
import type { Timer } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { Tls, TlsContext, TlsIdentity } from "../io/tls.ts";
import {
  TlsFileError,
  TlsFiles,
  type TlsFileSet,
  type TlsTexts,
} from "../remoting/entrance/tls_files.ts";
import type { ServerTls, TlsSource } from "../remoting/entrance/tls_ports.ts";
import type { Runtime } from "../runtime/runtime.ts";

const LOOK_INTERVAL_MS = 500;

/** What one process has of TLS. */
export interface ProcessTls {
  /** Of accepted connections; undefined: plain text only. */
  readonly server: ServerTls | undefined;
  /** Of connections to name servers and other brokers; undefined: they are plain. */
  readonly client: TlsSource | undefined;
  /** Of connections to ports of this process. */
  readonly own: TlsSource | undefined;
  /** Reads the files again (SIGHUP). */
  reload(): void;
  close(): void;
}

/** The values, and where each came from. */
export interface TlsConfig {
  readonly values: TlsValues;
  readonly origins: Readonly<Record<string, ConfigOrigin>>;
}

type TlsRuntime = Pick<Runtime, "clock" | "fileSystem" | "openTls">;

/** Reads the files that are configured. Throws ConfigError naming key, file and what is wrong. */
export async function openProcessTls(
  runtime: TlsRuntime,
  config: TlsConfig,
  logger: Logger,
): Promise<ProcessTls> {
  const { values } = config;
  const opened = new OpenedTls(runtime, config, logger);
  const mode = values["tls.server.mode"];
  const source = mode === "disabled" ? undefined : await opened.server();
  const isEnforced = mode === "enforcing";
  warnOf(config, logger);
  const server = source &&
    { isEnforced, context: () => source.context() };
  return {
    server,
    client: values.useTLS ? await opened.client() : undefined,
    own: isEnforced ? opened.own() : undefined,
    reload: () => opened.reload(),
    close: () => opened.close(),
  };
}

/** How tools connect: by the client's keys alone. Throws ConfigError. */
export async function openToolTls(
  runtime: TlsRuntime,
  config: TlsConfig,
  logger: Logger,
): Promise<TlsSource | undefined> {
  if (!config.values.useTLS) return undefined;
  const opened = new OpenedTls(runtime, config, logger);
  const source = await opened.client();
  opened.close(); // A tool does not run long enough for a new certificate.
  return source;
}

function warnOf({ origins, values }: TlsConfig, logger: Logger): void {
  const hasKey = values["tls.server.keyPath"] !== "";
  if (values["tls.server.mode"] === "enforcing" && !hasKey) {
    logger.warn(
      "tls.server.mode=enforcing shows a certificate that nobody signed: set tls.server.keyPath and tls.server.certPath",
    );
  }
  if (
    hasKey && values["tls.test.mode.enable"] &&
    origins["tls.test.mode.enable"]?.kind !== "default"
  ) {
    logger.warn(
      "tls.test.mode.enable=true has no effect: tls.server.keyPath is set, and what it holds is shown",
    );
  }
  if (
    values["tls.server.authClient"] &&
    values["tls.server.need.client.auth"] === "none"
  ) {
    logger.warn(
      "tls.server.authClient=true has no effect: no client is asked for a certificate; set tls.server.need.client.auth to optional or require",
    );
  }
}

/** Sources that share one look at the files. */
class OpenedTls {
  readonly #runtime: TlsRuntime;
  readonly #config: TlsConfig;
  readonly #logger: Logger;
  readonly #files: TlsFiles[] = [];
  /** What the server shows; null: nothing that anybody signed. */
  #shown: TlsIdentity | null = null;
  #timer: Timer | undefined;

  constructor(runtime: TlsRuntime, config: TlsConfig, logger: Logger) {
    this.#runtime = runtime;
    this.#config = config;
    this.#logger = logger;
  }

  server(): Promise<TlsSource | undefined> {
    const { values } = this.#config;
    const open = (tls: Tls, texts: TlsTexts): TlsContext => {
      const identity = identityOf(texts, values["tls.server.keyPassword"]);
      const context = tls.openServer({
        identity,
        clientAuth: values["tls.server.need.client.auth"],
        clientTrust: values["tls.server.authClient"] ? texts.trust : null,
      });
      this.#shown = identity;
      return context;
    };
    const files = serverFiles(values);
    const isNameless = files.key.path === "";
    return isNameless && !values["tls.test.mode.enable"]
      ? Promise.resolve(undefined)
      : this.#source(files, open);
  }

  client(): Promise<TlsSource> {
    const { values } = this.#config;
    const verifiesServer = values["tls.client.authServer"];
    return this.#source(
      {
        key: fileOf(values, "tls.client.keyPath"),
        certificate: fileOf(values, "tls.client.certPath"),
        trust: verifiesServer
          ? fileOf(values, "tls.client.trustCertPath")
          : { key: "tls.client.trustCertPath", path: "" },
      },
      (tls, texts) =>
        tls.openClient({
          identity: identityOf(texts, values["tls.client.keyPassword"]),
          verifiesServer,
          serverTrust: texts.trust,
        }),
    );
  }

  /** Shows what the server shows: whoever trusts its clients had better trust it. */
  own(): TlsSource {
    const { openTls } = this.#runtime;
    return {
      context: async () =>
        (await openTls()).openClient({
          identity: this.#shown,
          verifiesServer: false,
          serverTrust: null,
        }),
    };
  }

  reload(): void {
    for (const it of this.#files) it.reload();
  }

  close(): void {
    this.#timer?.cancel();
  }

  /** Files are read now; without any, TLS itself is loaded when first needed. */
  async #source(
    files: TlsFileSet,
    open: (tls: Tls, texts: TlsTexts) => TlsContext,
  ): Promise<TlsSource> {
    const { clock, openTls } = this.#runtime;
    const paths = Object.values(files).map(({ path }) => path);
    if (paths.every((it) => it === "")) {
      let made: Promise<TlsContext> | null = null;
      const texts = { certificate: null, key: null, trust: null };
      return {
        context: () => made ??= openTls().then((it) => open(it, texts)),
      };
    }
    const tls = await openTls();
    const source = this.#read(files, (texts) => open(tls, texts));
    this.#files.push(source);
    this.#timer ??= clock.every(LOOK_INTERVAL_MS, () => {
      for (const it of this.#files) it.tick(clock.monotonicMs());
    });
    return source;
  }

  #read(
    files: TlsFileSet,
    open: (texts: TlsTexts) => TlsContext,
  ): TlsFiles {
    const { fileSystem } = this.#runtime;
    try {
      return new TlsFiles({ fileSystem, logger: this.#logger }, files, open);
    } catch (error) {
      this.close();
      if (!(error instanceof TlsFileError)) throw error;
      const { file: { key, path }, hint } = error;
      throw new ConfigError(key, path, hint, this.#config.origins[key]);
    }
  }
}

type PathKey = `tls.${"server" | "client"}.${"key" | "cert" | "trustCert"}Path`;

function fileOf(values: TlsValues, key: PathKey) {
  return { key, path: values[key] };
}

function serverFiles(values: TlsValues): TlsFileSet {
  return {
    key: fileOf(values, "tls.server.keyPath"),
    certificate: fileOf(values, "tls.server.certPath"),
    trust: values["tls.server.authClient"]
      ? fileOf(values, "tls.server.trustCertPath")
      : { key: "tls.server.trustCertPath", path: "" },
  };
}

function identityOf(
  { certificate, key }: TlsTexts,
  keyPassword: string,
): TlsIdentity | null {
  return certificate === null || key === null
    ? null
    : { certificate, key, keyPassword };
}
