/** runBroker: the life of `pocketmq broker`. */
import { loadBrokerConfig } from "../config/broker_config.ts";
import { startBrokerServer } from "./broker_server.ts";
import type { CliContext } from "./cli_context.ts";
import { brokerInput, hostFacts } from "./config_input.ts";
import type { ServerFlags } from "./options.ts";
import { serve } from "./serve.ts";
import { logConfigWarnings, serverLogger } from "./server_logger.ts";

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
  return serve(context, flags.json === true, () => {
    const config = load();
    const logger = serverLogger(context, config.slices.log);
    logConfigWarnings(logger, config.warnings);
    if (config.values.namesrvAddr === "") {
      logger.warn(
        "namesrvAddr is empty: clients cannot find this broker; give -n host:9876",
      );
    }
    return startBrokerServer(context, {
      config,
      logger,
      load,
      configFile: flags.config,
      namesrv: undefined,
    });
  });
}
