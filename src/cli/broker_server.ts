/** BrokerServer: a broker, its admin port and, in `standalone`, its name server; wired and run. */
import type { AccessControl } from "../auth/access_control.ts";
import type { UserAccess } from "../auth/users/user_access.ts";
import { BrokerController } from "../broker/broker_controller.ts";
import {
  BROKER_PROGRAM_KEYS,
  type BrokerConfig,
  brokerSlices,
} from "../config/broker_config.ts";
import { checkBrokerRules, checkRoleChange } from "../config/broker_rules.ts";
import { Configuration } from "../config/configuration.ts";
import type { Logger } from "../io/logger.ts";
import type { NamesrvController } from "../namesrv/namesrv_controller.ts";
import { checkAdvertised } from "./advertised_check.ts";
import type { CliContext } from "./cli_context.ts";
import { readTextFile, replaceTextFile } from "./files.ts";
import type { ProcessTls } from "./process_tls.ts";
import { reloadConfiguration } from "./reload.ts";
import type { RunningServer, ServerListener } from "./serve.ts";
import type { MetricsServer } from "./metrics_server.ts";
import { namesrvListener } from "./run_namesrv.ts";
import { warnOfStrangers } from "./server_logger.ts";

/** The configuration of a running broker. */
export type BrokerConfiguration = Configuration<typeof BROKER_PROGRAM_KEYS>;

/** What a broker server is made of. */
export interface BrokerServerParts {
  readonly config: BrokerConfig;
  readonly logger: Logger;
  /** Reads file, environment and flags again. */
  readonly load: () => BrokerConfig;
  /** What a change at run time must not take away: the name server in this process. */
  readonly inForce?: (values: BrokerConfig["values"]) => BrokerConfig["values"];
  /** Path of the file given by `--config`. */
  readonly configFile: string | undefined;
  /** The name server in this process. */
  readonly namesrv: NamesrvController | undefined;
  readonly tls: ProcessTls;
}

/** How often a start looks whether its own name server knows the broker. */
const REGISTRATION_POLL_MS = 2;
const REGISTRATION_WAIT_MS = 3_000;
/** What an answer takes to go out. */
const ANSWER_MS = 250;

/** Starts everything; what was started is stopped again when a part fails. */
export async function startBrokerServer(
  context: CliContext,
  parts: BrokerServerParts,
): Promise<RunningServer> {
  const { config, inForce = (values) => values, logger, namesrv, tls } = parts;
  const configuration = configurationOf(context, parts);
  const guard = await openGuard(context, parts);
  const broker = new BrokerController(
    {
      ...context.runtime,
      logger: logger.child("broker"),
      configuration,
      guard,
      serverTls: tls.server,
      clientTls: tls.client,
    },
    config.slices,
  );
  configuration.onChanged = () =>
    broker.reconfigure(
      brokerSlices(inForce(configuration.values), configuration.explicitKeys),
    );
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {}); // Whoever runs this server looks at it.
  broker.onRestartFailed = (error) => {
    // Whoever asked for the change over HTTP is told before the end.
    context.runtime.clock.after(ANSWER_MS, () => failed.reject(error));
  };
  const running = { context, parts, configuration, broker };
  const admin = config.values.adminEnable
    ? await startAdmin(running)
    : undefined;
  let metrics: MetricsServer | undefined;
  try {
    await broker.start();
    found(configuration, broker);
    metrics = await startMetrics(running);
    if (namesrv !== undefined) await registered(context, broker);
  } catch (error) {
    await broker.stop();
    await metrics?.close();
    await admin?.close();
    throw error;
  }
  const listeners: ServerListener[] = [
    ...(namesrv === undefined ? [] : [namesrvListener(namesrv)]),
    ...broker.listeners,
    ...(admin === undefined ? [] : [admin.listener]),
    ...(metrics === undefined ? [] : [metrics.listener]),
  ];
  warnOfStrangers(logger, listeners);
  void checkAdvertised(
    {
      ...context.runtime,
      logger: logger.child("ports"),
      clientTls: tls.own,
    },
    broker.identity.brokerName,
    listeners,
    config.slices.remotingClient,
  );
  return {
    listeners,
    failed: failed.promise,
    stop: async () => {
      await broker.stop();
      await metrics?.close();
      await admin?.close();
    },
    reload: () => {
      reloadConfiguration(configuration, parts.load, logger);
      if (guard !== undefined && "reload" in guard) guard.reload();
      tls.reload();
    },
  };
}

/** A running program as the admin face sees it. */
export interface RunningBroker {
  readonly context: CliContext;
  readonly parts: BrokerServerParts;
  readonly configuration: BrokerConfiguration;
  readonly broker: BrokerController;
}

/** Access control, where it is asked for: others pay nothing, not even to load it. */
async function openGuard(
  { runtime }: CliContext,
  { config, logger }: BrokerServerParts,
): Promise<AccessControl | UserAccess | undefined> {
  const { aclEnable, authenticationEnabled } = config.slices.acl;
  if (authenticationEnabled) {
    const { openUserAccess } = await import("./open_user_access.ts");
    return await openUserAccess(
      { ...runtime, logger: logger.child("auth") },
      config,
    );
  }
  if (!aclEnable) return undefined;
  const { openAccessControl } = await import("./open_access_control.ts");
  return openAccessControl({
    ...runtime,
    logger: logger.child("acl"),
    replace: (path, text) =>
      replaceTextFile(runtime.fileSystem, path, text, "create-private"),
  }, config);
}

async function startAdmin(running: RunningBroker) {
  const { startAdminServer } = await import("./admin_server.ts");
  return await startAdminServer(running);
}

async function startMetrics(
  running: RunningBroker,
): Promise<MetricsServer | undefined> {
  const { metricsExporterType: type } = running.configuration.values;
  if (type === "DISABLE" || type === "0") return undefined;
  if (type === "PROM" || type === "2") {
    const { startMetricsServer } = await import("./metrics_server.ts");
    return await startMetricsServer(running);
  }
  running.parts.logger.warn(
    `metricsExporterType=${type} has no effect: metrics are at /metrics of the admin server, and on metricsPromExporterPort with PROM`,
  );
  return undefined;
}

function configurationOf(
  context: CliContext,
  { config, configFile }: BrokerServerParts,
): BrokerConfiguration {
  const { clock, fileSystem } = context.runtime;
  const file = configFile === undefined ? null : {
    name: configFile,
    read: () => readTextFile(fileSystem, configFile),
    replace: (text: string) => replaceTextFile(fileSystem, configFile, text),
  };
  const configuration: BrokerConfiguration = new Configuration(
    BROKER_PROGRAM_KEYS,
    config,
    file,
    () => clock.nowMs(),
    ({ values, origins }) => {
      checkRoleChange(configuration.values.brokerRole, values.brokerRole);
      checkBrokerRules(values, origins);
    },
  );
  return configuration;
}

/** GET_BROKER_CONFIG tells ports, addresses and file sizes as they are. */
function found(
  configuration: BrokerConfiguration,
  broker: BrokerController,
): void {
  const { brokerIP1, brokerIP2, haListenPort, listenPort } =
    broker.options.broker;
  configuration.found(
    { brokerIP1, brokerIP2, haListenPort, listenPort },
    "chosen at start",
  );
  const {
    mappedFileSizeCommitLog,
    mappedFileSizeConsumeQueue,
    maxHashSlotNum,
    maxIndexNum,
  } = broker.messageStore.options;
  configuration.found({
    mappedFileSizeCommitLog,
    mappedFileSizeConsumeQueue,
    maxHashSlotNum,
    maxIndexNum,
  }, "as the existing store has it");
}

/** Whoever reads `ready` may produce: the name server here must know the broker by then. */
async function registered(
  context: CliContext,
  broker: BrokerController,
): Promise<void> {
  const { clock } = context.runtime;
  const deadlineMs = clock.monotonicMs() + REGISTRATION_WAIT_MS;
  while (clock.monotonicMs() < deadlineMs) {
    if (broker.registration.states()[0]?.isRegistered === true) return;
    if (broker.fence.fencedReason !== null) return;
    await new Promise<void>((resolve) =>
      clock.after(REGISTRATION_POLL_MS, resolve)
    );
  }
}
