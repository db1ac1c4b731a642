/** Configuration over remoting: GET_BROKER_CONFIG (26) and UPDATE_BROKER_CONFIG (25); reference 2.7. */
import { parseJavaProperties } from "../../base/java_properties.ts";
import type { Logger } from "../../io/logger.ts";
import type { DataVersion } from "../../model/data_version.ts";
import { dataVersionToJson } from "../../protocol/body/data_version_body.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestContext,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";

/** The configuration in force. */
export interface BrokerConfiguration {
  /** `key=value` lines without secrets. */
  text(): string;
  readonly dataVersion: DataVersion;
  /**
   * Takes over changes, all or none; unknown keys are ignored. Throws an error
   * named `ForbiddenKeyError` for keys that nobody may change from outside,
   * and one that names key and value for what cannot be.
   */
  update(changes: ReadonlyMap<string, string>): Promise<unknown>;
  /** Takes values that were found out while running, with the reason. */
  found?(
    values: { readonly mappedFileSizeCommitLog: number },
    reason: string,
  ): void;
}

/** What the processor works on. */
export interface ConfigAdminDeps {
  readonly logger: Logger;
  readonly configuration: BrokerConfiguration;
  readonly topicConfigManager: TopicConfigManager;
  /** Tells the name servers; resolves when they answered or after about a second. */
  registerChanges(): Promise<void>;
}

/** Processors by request code. */
export function configAdminProcessors(deps: ConfigAdminDeps): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [RequestCode.GET_BROKER_CONFIG, () => getBrokerConfig(deps)],
    [
      RequestCode.UPDATE_BROKER_CONFIG,
      (context: RequestContext, request: RemotingCommand) =>
        updateBrokerConfig(deps, context, request),
    ],
  ]);
}

function getBrokerConfig({ configuration }: ConfigAdminDeps): RemotingCommand {
  const version = JSON.stringify(dataVersionToJson(configuration.dataVersion));
  return createResponse(
    ResponseCode.SUCCESS,
    null,
    { version },
    new TextEncoder().encode(configuration.text()),
  );
}

async function updateBrokerConfig(
  deps: ConfigAdminDeps,
  context: RequestContext,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const text = new TextDecoder().decode(request.body);
  const changes = parseJavaProperties(text);
  deps.logger.info("a client changes the configuration", {
    keys: [...changes.keys()].slice(0, 100),
    client: context.connection.remoteAddress,
  });
  try {
    await deps.configuration.update(changes);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = error.name === "ForbiddenKeyError"
      ? ResponseCode.NO_PERMISSION
      : ResponseCode.INVALID_PARAMETER;
    return createResponse(code, error.message);
  }
  if (changes.has("brokerPermission")) {
    deps.topicConfigManager.updateDataVersion();
    await deps.registerChanges();
  }
  return createResponse(ResponseCode.SUCCESS);
}
