/** runNamesrv: the life of `pocketmq namesrv`. */
import { Configuration } from "../config/configuration.ts";
import {
  loadNamesrvConfig,
  NAMESRV_PROGRAM_KEYS,
  type NamesrvConfig,
  namesrvSlices,
} from "../config/namesrv_config.ts";
import type { Logger } from "../io/logger.ts";
import { NamesrvController } from "../namesrv/namesrv_controller.ts";
import type { NamesrvOptions } from "../namesrv/namesrv_options.ts";
import type { RemotingServerOptions } from "../remoting/remoting_options.ts";
import { JsonFile } from "../store/json_file.ts";
import type { CliContext } from "./cli_context.ts";
import { hostFacts, namesrvInput } from "./config_input.ts";
import { hostPort } from "./host_port.ts";
import { listening } from "./listen_error.ts";
import type { ServerFlags } from "./options.ts";
import { openProcessTls, type ProcessTls } from "./process_tls.ts";
import { reloadConfiguration } from "./reload.ts";
import { type RunningServer, serve, type ServerListener } from "./serve.ts";
import {
  logConfigWarnings,
  serverLogger,
  warnOfStrangers,
} from "./server_logger.ts";

/** Runs until a signal. */
export function runNamesrv(
  context: CliContext,
  flags: ServerFlags,
): Promise<number> {
  const load = () =>
    loadNamesrvConfig(namesrvInput(context, flags), hostFacts(context));
  return serve(
    context,
    flags.json === true,
    () => start(context, load),
  );
}

async function start(
  context: CliContext,
  load: () => NamesrvConfig,
): Promise<RunningServer> {
  const config = load();
  const logger = serverLogger(context, config.slices.log);
  logConfigWarnings(logger, config.warnings);
  const { namesrv, remotingServer } = config.slices;
  const tls = await openProcessTls(
    context.runtime,
    config,
    logger.child("tls"),
  );
  const controller = await startNamesrv(
    context,
    logger,
    namesrv,
    remotingServer,
    "listenPort",
    tls,
  );
  const configuration = new Configuration(
    NAMESRV_PROGRAM_KEYS,
    config,
    null,
    () => context.runtime.clock.nowMs(),
  );
  configuration.onChanged = (values) =>
    controller.reconfigure(namesrvSlices(values).namesrv);
  const listeners = [namesrvListener(controller)];
  warnOfStrangers(logger, listeners);
  return {
    listeners,
    stop: async () => {
      await controller.stop();
      tls.close();
    },
    reload: () => {
      reloadConfiguration(configuration, load, logger);
      tls.reload();
    },
  };
}

/** Starts a name server. Throws ConfigError when its port cannot be bound. */
export async function startNamesrv(
  context: CliContext,
  logger: Logger,
  options: NamesrvOptions,
  remoting: RemotingServerOptions,
  portKey: string,
  tls: ProcessTls,
): Promise<NamesrvController> {
  const { clock, fileSystem, network } = context.runtime;
  const namesrvLogger = logger.child("namesrv");
  const controller = new NamesrvController(
    {
      network,
      clock,
      logger: namesrvLogger,
      serverTls: tls.server,
      clientTls: tls.client,
      openJsonFile: (path) => new JsonFile(fileSystem, path, namesrvLogger),
    },
    options,
    remoting,
  );
  await listening(
    portKey,
    options.listenPort,
    "bindAddress",
    options.bindAddress,
    () => controller.start(),
  );
  return controller;
}

/** As the ready lines show it. */
export function namesrvListener(controller: NamesrvController): ServerListener {
  const { hostname, port } = controller.listener;
  const bound = hostPort(hostname, port);
  return {
    name: "namesrv",
    bound,
    advertised: bound,
    why: "clients are told by their own configuration",
  };
}
