/** runBroker: the life of `pocketmq broker`. */
import { loadBrokerConfig } from "../config/broker_config.ts";
import { startBrokerServer } from "./broker_server.ts";
import type { CliContext } from "./cli_context.ts";
import { brokerInput, hostFacts } from "./config_input.ts";
import type { ServerFlags } from "./options.ts";
import { openProcessTls } from "./process_tls.ts";
import { serve } from "./serve.ts";
import { logConfigWarnings, serverLogger } from "./server_logger.ts";

const NO_NAMESRV =
  "namesrvAddr is empty: clients cannot find this broker; give -n host:9876";

/** Runs until a signal. */
export function runBroker(
  context: CliContext,
  flags: ServerFlags,
): Promise<number> {
  const load = () =>
    loadBrokerConfig(
      brokerInput(context, flags),
      "apache",
      hostFacts(context),
    );
  return serve(context, flags.json === true, async () => {
    const config = load();
    const logger = serverLogger(context, config.slices.log);
    const isAlone = config.values.namesrvAddr === "";
    logConfigWarnings(logger, [
      ...config.warnings,
      ...(isAlone ? [NO_NAMESRV] : []),
    ]);
    const tls = await openProcessTls(
      context.runtime,
      config,
      logger.child("tls"),
    );
    const server = await startBrokerServer(context, {
      config,
      logger,
      load,
      configFile: flags.config,
      namesrv: undefined,
      tls,
    });
    return {
      ...server,
      stop: async () => {
        await server.stop();
        tls.close();
      },
    };
  });
}
