/** KV entries and the name server's own options (100, 101, 102, 219, 318, 319). */
import { shown, shownList } from "../../base/shown.ts";
import {
  formatJavaProperties,
  parseJavaProperties,
} from "../../base/java_properties.ts";
import { encodeKVTable } from "../../protocol/body/kv_table.ts";
import {
  decodeKVConfigKeyHeader,
  decodeKVConfigNamespaceHeader,
  decodePutKVConfigRequestHeader,
} from "../../protocol/header/kv_config_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { RequestProcessor } from "../../remoting/request_processor.ts";
import type { KVConfigManager } from "../kv_config_manager.ts";
import { configEntries, updateConfig } from "../namesrv_configuration.ts";
import type { NamesrvContext } from "../namesrv_context.ts";

/** The processors by code. */
export function configProcessors(
  namesrv: NamesrvContext,
): [number, RequestProcessor][] {
  const kv = namesrv.kvConfigManager;
  return [
    [RequestCode.PUT_KV_CONFIG, async (_, request) => {
      const header = decodePutKVConfigRequestHeader(request.extFields);
      await kv.put(header.namespace, header.key, header.value);
      return createResponse(ResponseCode.SUCCESS);
    }],
    [RequestCode.GET_KV_CONFIG, (_, request) => getKVConfig(kv, request)],
    [RequestCode.DELETE_KV_CONFIG, async (_, request) => {
      const header = decodeKVConfigKeyHeader(request.extFields);
      await kv.delete(header.namespace, header.key);
      return createResponse(ResponseCode.SUCCESS);
    }],
    [
      RequestCode.GET_KVLIST_BY_NAMESPACE,
      (_, request) => getNamespace(kv, request),
    ],
    [
      RequestCode.UPDATE_NAMESRV_CONFIG,
      (_, request) => updateNamesrvConfig(namesrv, request),
    ],
    [RequestCode.GET_NAMESRV_CONFIG, () => {
      const text = formatJavaProperties(configEntries(namesrv.options));
      return createResponse(
        ResponseCode.SUCCESS,
        null,
        {},
        new TextEncoder().encode(text),
      );
    }],
  ];
}

function getKVConfig(
  kv: KVConfigManager,
  request: RemotingCommand,
): RemotingCommand {
  const { namespace, key } = decodeKVConfigKeyHeader(request.extFields);
  const value = kv.get(namespace, key);
  return value === undefined
    ? createResponse(
      ResponseCode.QUERY_NOT_FOUND,
      `No config item, Namespace: ${shown(namespace)} Key: ${shown(key)}`,
    )
    : createResponse(ResponseCode.SUCCESS, null, { value });
}

function getNamespace(
  kv: KVConfigManager,
  request: RemotingCommand,
): RemotingCommand {
  const { namespace } = decodeKVConfigNamespaceHeader(request.extFields);
  const entries = kv.namespace(namespace);
  return entries === undefined
    ? createResponse(
      ResponseCode.QUERY_NOT_FOUND,
      `No config item, Namespace: ${shown(namespace)}`,
    )
    : createResponse(ResponseCode.SUCCESS, null, {}, encodeKVTable(entries));
}

function updateNamesrvConfig(
  namesrv: NamesrvContext,
  request: RemotingCommand,
): RemotingCommand {
  const text = new TextDecoder().decode(request.body);
  const update = updateConfig(namesrv.options, parseJavaProperties(text));
  if (update.kind === "refused") {
    return createResponse(update.code, update.reason);
  }
  namesrv.reconfigure(update.options);
  const { changed, unknown } = update;
  const parts: string[] = [];
  if (unknown.length > 0) {
    parts.push(`without effect in this name server: ${shownList(unknown)}`);
  }
  if (changed.length > 0) {
    parts.push(`in force until a restart: ${shownList(changed)}`);
  }
  const remark = parts.length === 0 ? null : parts.join("; ");
  return createResponse(ResponseCode.SUCCESS, remark);
}
