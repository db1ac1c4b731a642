/** Configuration over remoting: GET_BROKER_CONFIG (26) and UPDATE_BROKER_CONFIG (25); reference 2.7. */
import { shownList } from "../../base/shown.ts";
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
import type { BrokerRole } from "../broker_options.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";

/** What one change did. */
export interface BrokerConfigurationChange {
  /** Keys that hold from now on. */
  readonly changed: readonly string[];
  /** Keys that hold after a restart, when they were written down. */
  readonly afterRestart: readonly string[];
  /** Keys that do nothing here. */
  readonly unknown: readonly string[];
  /** True when the file was written. */
  readonly isPersisted: boolean;
}

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
  update(
    changes: ReadonlyMap<string, string>,
  ): Promise<BrokerConfigurationChange>;
  /** Takes values that were found out while running, with the reason; `instead` of changing them. */
  found?(
    values: {
      readonly mappedFileSizeCommitLog?: number;
      readonly brokerRole?: BrokerRole;
      readonly brokerId?: number;
      readonly haMasterAddress?: string;
    },
    reason: string,
    instead?: string,
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
  const client = context.connection.remoteAddress;
  let change: BrokerConfigurationChange;
  try {
    change = await deps.configuration.update(changes);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    deps.logger.warn("a client's change of the configuration was refused", {
      keys: shownList([...changes.keys()]),
      client,
      reason: error.message,
    });
    const code = error.name === "ForbiddenKeyError"
      ? ResponseCode.NO_PERMISSION
      : ResponseCode.INVALID_PARAMETER;
    return createResponse(code, error.message);
  }
  deps.logger.info("a client changed the configuration", {
    changed: shownList(change.changed),
    afterRestart: shownList(change.afterRestart),
    unknown: shownList(change.unknown),
    isPersisted: change.isPersisted,
    client,
  });
  if (changes.has("brokerPermission")) {
    deps.topicConfigManager.updateDataVersion();
    await deps.registerChanges();
  }
  // Not Apache's: which keys are not in force, and will not be.
  const notSet = [
    ...change.unknown,
    ...(change.isPersisted ? [] : change.afterRestart),
  ];
  return createResponse(ResponseCode.SUCCESS, remarkOf(change), {
    notSet: shownList(notSet),
  });
}

/** Java answers 0 to everything: the remark says what is not in force, or not for long. */
function remarkOf(change: BrokerConfigurationChange): string | null {
  const { changed, afterRestart, unknown, isPersisted } = change;
  const parts: string[] = [];
  if (afterRestart.length > 0) {
    const when = isPersisted
      ? "in force after a restart"
      : "not changed, since they need a restart and no file keeps them";
    parts.push(`${when}: ${shownList(afterRestart)}`);
  }
  if (unknown.length > 0) {
    parts.push(`no such key in this broker: ${shownList(unknown)}`);
  }
  if (changed.length > 0 && !isPersisted) {
    parts.push(`in force until a restart: ${shownList(changed)}`);
  }
  return parts.length === 0 ? null : parts.join("; ");
}
