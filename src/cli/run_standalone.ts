/** runStandalone: the life of `pocketmq standalone`. */
import {
  type BrokerConfig,
  brokerSlices,
  loadBrokerConfig,
} from "../config/broker_config.ts";
import type { Logger } from "../io/logger.ts";
import type { NamesrvController } from "../namesrv/namesrv_controller.ts";
import { DEFAULT_NAMESRV_OPTIONS } from "../namesrv/namesrv_options.ts";
import { startBrokerServer } from "./broker_server.ts";
import type { CliContext } from "./cli_context.ts";
import { brokerInput, hostFacts } from "./config_input.ts";
import { hostPort, reachable } from "./host_port.ts";
import type { ServerFlags } from "./options.ts";
import { openProcessTls, type ProcessTls } from "./process_tls.ts";
import { startNamesrv } from "./run_namesrv.ts";
import { type RunningServer, serve } from "./serve.ts";
import { logConfigWarnings, serverLogger } from "./server_logger.ts";

/** Runs until a signal. */
export function runStandalone(
  context: CliContext,
  flags: ServerFlags,
): Promise<number> {
  const load = () =>
    loadBrokerConfig(
      brokerInput(context, flags),
      "standalone",
      hostFacts(context),
    );
  return serve(
    context,
    flags.json === true,
    () => start(context, flags, load),
  );
}

async function start(
  context: CliContext,
  flags: ServerFlags,
  load: () => BrokerConfig,
): Promise<RunningServer> {
  const config = load();
  const logger = serverLogger(context, config.slices.log);
  logConfigWarnings(logger, config.warnings);
  const tls = await openProcessTls(
    context.runtime,
    config,
    logger.child("tls"),
  );
  const namesrv = await startOwnNamesrv(context, logger, config, tls);
  try {
    const server = await startBrokerServer(context, {
      config: registeredAt(config, namesrv),
      logger,
      load: () => registeredAt(withChangesOfNamesrv(load(), config), namesrv),
      inForce: (values) => withNamesrv(values, namesrv),
      configFile: flags.config,
      namesrv,
      tls,
    });
    return {
      ...server,
      // The broker first: it says goodbye to the name server.
      stop: async () => {
        await server.stop();
        await namesrv.stop();
        tls.close();
      },
    };
  } catch (error) {
    await namesrv.stop();
    throw error;
  }
}

function startOwnNamesrv(
  context: CliContext,
  logger: Logger,
  { namesrv, slices, values }: BrokerConfig,
  tls: ProcessTls,
): Promise<NamesrvController> {
  return startNamesrv(
    context,
    logger,
    {
      ...DEFAULT_NAMESRV_OPTIONS,
      ...namesrv?.values,
      bindAddress: values.bindAddress,
      listenPort: values.namesrvListenPort,
    },
    slices.remotingServer,
    "namesrvListenPort",
    tls,
  );
}

/** What a name server is told it reads once: the log says so of what is another value now. */
function withChangesOfNamesrv(
  loaded: BrokerConfig,
  { namesrv }: BrokerConfig,
): BrokerConfig {
  const before = new Map<string, unknown>(
    Object.entries(namesrv?.values ?? {}),
  );
  const changed = Object.entries(loaded.namesrv?.values ?? {})
    .filter(([key, value]) => before.get(key) !== value)
    .map(([key]) => `${key} was changed and holds after a restart`);
  return { ...loaded, warnings: [...loaded.warnings, ...changed] };
}

/** The configuration with the name server here first in the list. */
function registeredAt(
  config: BrokerConfig,
  namesrv: NamesrvController,
): BrokerConfig {
  const values = withNamesrv(config.values, namesrv);
  return {
    ...config,
    values,
    slices: brokerSlices(values, config.slices.store.explicitKeys),
  };
}

function withNamesrv(
  values: BrokerConfig["values"],
  namesrv: NamesrvController,
): BrokerConfig["values"] {
  const { hostname, port } = namesrv.listener;
  const own = hostPort(reachable(hostname), port);
  const others = values.namesrvAddr.split(";").map((it) => it.trim())
    .filter((it) => it !== "" && it !== own);
  return Object.freeze({
    ...values,
    namesrvAddr: [own, ...others].join(";"),
  });
}
