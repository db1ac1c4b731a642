/**
 * The codes by which tools of 4.9 change plain_acl.yml (50, 51, 53) and look at it (52, 54), with
 * Apache 4.9.7's answers; a secret is never in one.
 */
import { shown } from "../../base/shown.ts";
import { FileError } from "../../io/file_system.ts";
import type { Logger } from "../../io/logger.ts";
import type { Clock } from "../../io/clock.ts";
import type { DataVersion } from "../../model/data_version.ts";
import { dataVersionToJson } from "../../protocol/body/data_version_body.ts";
import { encodeJson } from "../../protocol/body/json_fields.ts";
import {
  createResponse,
  type ExtFields,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode, requestCodeName } from "../../protocol/request_code.ts";
import { accessKeyOf } from "../../protocol/request_signature.ts";
import { AclResponseCode, ResponseCode } from "../../protocol/response_code.ts";
import type {
  GuardedBroker,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import { permissionOf } from "../permission.ts";
import { AclFileError } from "../yaml_file.ts";
import { type AccountChange, AclDocument } from "./acl_document.ts";
import type { PlainAclFiles, PlainAclText } from "./plain_acl_files.ts";

/** What they work on. */
export interface AclProcessorsDeps {
  readonly files: PlainAclFiles;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly broker: GuardedBroker;
}

/** How a secret stands in answers; sent back, it leaves the account's secret as it is. */
const MASK = "***";
const KEY_LENGTH_MIN = 7;

type TextChange = (
  files: readonly PlainAclText[],
) => { readonly path: string; readonly text: string };

/** Processors by request code. */
export function* aclProcessors(
  deps: AclProcessorsDeps,
): Iterable<readonly [number, RequestProcessor]> {
  const { UPDATE_FAILED, DELETE_FAILED, WHITE_ADDRS_FAILED } = AclResponseCode;
  yield changing(
    deps,
    RequestCode.UPDATE_AND_CREATE_ACL_CONFIG,
    UPDATE_FAILED,
    putAccount,
  );
  yield changing(
    deps,
    RequestCode.DELETE_ACL_CONFIG,
    DELETE_FAILED,
    deleteAccount,
  );
  yield changing(
    deps,
    RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG,
    WHITE_ADDRS_FAILED,
    putGlobalWhiteAddrs,
  );
  yield [
    RequestCode.GET_BROKER_CLUSTER_ACL_INFO,
    () => aclVersions(deps),
  ];
  yield [RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG, () => aclConfig(deps)];
}

function changing(
  deps: AclProcessorsDeps,
  code: number,
  failure: number,
  read: (deps: AclProcessorsDeps, fields: ExtFields) => TextChange,
): readonly [number, RequestProcessor] {
  return [code, async (context, request) => {
    const { extFields } = request;
    const client = context.connection.remoteAddress;
    const what = requestCodeName(code);
    try {
      await deps.files.change(read(deps, extFields));
    } catch (error) {
      const isExpected = error instanceof AclFileError ||
        error instanceof FileError;
      if (!isExpected) throw error;
      deps.logger.warn(
        `${what} of ${client} was not done: ${shown(error.message, 500)}`,
      );
      return createResponse(failure, error.message);
    }
    deps.logger.info(`${what} was done`, {
      of: shown(extFields["accessKey"] ?? extFields["globalWhiteAddrs"] ?? ""),
      by: shown(accessKeyOf(request) ?? ""),
      client,
    });
    return createResponse(ResponseCode.SUCCESS);
  }];
}

function putAccount(
  { clock, files: { defaultPath } }: AclProcessorsDeps,
  fields: ExtFields,
): TextChange {
  const change = accountChangeOf(fields);
  return (files) => {
    const file = holderOf(files, change.accessKey);
    if (file === undefined && change.secretKey === undefined) {
      throw keysFault(change.accessKey);
    }
    const path = file?.path ?? defaultPath;
    const document = documentOf(files, path);
    document.putAccount(change);
    return { path, text: document.nextText(clock.nowMs()) };
  };
}

function accountChangeOf(fields: ExtFields): AccountChange {
  const accessKey = (fields["accessKey"] ?? "").trim();
  const secretKey = (fields["secretKey"] ?? "").trim();
  const isShort = accessKey.length < KEY_LENGTH_MIN ||
    (secretKey.length < KEY_LENGTH_MIN && secretKey !== MASK);
  if (isShort) throw keysFault(accessKey);
  return {
    accessKey,
    secretKey: secretKey === MASK ? undefined : secretKey,
    whiteRemoteAddress: fields["whiteRemoteAddress"],
    admin: fields["admin"]?.toLowerCase() === "true",
    defaultTopicPerm: fields["defaultTopicPerm"] || undefined,
    defaultGroupPerm: fields["defaultGroupPerm"] || undefined,
    topicPerms: permsOf(fields["topicPerms"]),
    groupPerms: permsOf(fields["groupPerms"]),
  };
}

/** In Apache's words. */
function permsOf(text: string | undefined): string[] | undefined {
  const perms = listOf(text);
  for (const it of perms ?? []) {
    const items = it.split("=").filter((part) => part !== "");
    if (items.length !== 2) {
      throw new AclFileError(
        `Parse Resource format error for ${
          shown(it)
        }.\nThe expected resource format is 'Res=Perm'. For example: topicA=SUB`,
      );
    }
    if (permissionOf(items[1]!) === undefined) {
      throw new AclFileError(
        `Parse resource permission error for ${
          shown(it)
        }.\nThe expected permissions are 'SUB' or 'PUB' or 'SUB|PUB' or 'PUB|SUB'.`,
      );
    }
  }
  return perms;
}

function keysFault(accessKey: string): AclFileError {
  return new AclFileError(
    `The accessKey=${
      shown(accessKey, 64)
    } and secretKey=${MASK} cannot be null and length should longer than 6`,
  );
}

function deleteAccount(
  { clock }: AclProcessorsDeps,
  fields: ExtFields,
): TextChange {
  const accessKey = (fields["accessKey"] ?? "").trim();
  return (files) => {
    const file = holderOf(files, accessKey);
    if (file === undefined) {
      throw new AclFileError(
        `The accesskey[${
          shown(accessKey, 64)
        }] corresponding to accessConfig has been deleted failed.`,
      );
    }
    const document = new AclDocument(file.text);
    document.deleteAccount(accessKey);
    return { path: file.path, text: document.nextText(clock.nowMs()) };
  };
}

function putGlobalWhiteAddrs(
  { clock, files: { defaultPath } }: AclProcessorsDeps,
  fields: ExtFields,
): TextChange {
  const addresses = listOf(fields["globalWhiteAddrs"]);
  const path = (fields["aclFileFullPath"] ?? "").trim() || defaultPath;
  return (files) => {
    // A path of a stranger's choice is not written to.
    const isKnown = path === defaultPath ||
      files.some((it) => it.path === path);
    if (addresses === undefined || !isKnown) {
      const given = shown(fields["globalWhiteAddrs"] ?? "");
      throw new AclFileError(
        `The globalWhiteAddresses[${given}] has been updated failed.${
          isKnown ? "" : ` ${shown(path)} is none of the access control files`
        }`,
      );
    }
    const document = documentOf(files, path);
    document.putGlobalWhiteAddrs(addresses);
    return { path, text: document.nextText(clock.nowMs()) };
  };
}

function aclVersions({ broker, files }: AclProcessorsDeps): RemotingCommand {
  const versions = new Map<string, DataVersion>();
  for (const { modifiedMs, path, text } of files.files) {
    const version = new AclDocument(text).dataVersion();
    versions.set(
      path,
      version ?? { stateVersion: 0, counter: 0, timestamp: modifiedMs },
    );
  }
  const json = (version: DataVersion | undefined) =>
    dataVersionToJson(
      version ?? { stateVersion: 0, counter: 0, timestamp: 0 },
    );
  return createResponse(ResponseCode.SUCCESS, null, {
    version: JSON.stringify(json(versions.get(files.defaultPath))),
    allAclFileVersion: JSON.stringify(
      Object.fromEntries([...versions].map(([path, it]) => [path, json(it)])),
    ),
    brokerName: broker.brokerName,
    brokerAddr: broker.brokerAddr,
    clusterName: broker.clusterName,
  });
}

function aclConfig({ files }: AclProcessorsDeps): RemotingCommand {
  const documents = files.files.map((it) => new AclDocument(it.text));
  const accounts = new Map<string, object>();
  for (const account of documents.flatMap((it) => it.accounts())) {
    const accessKey = String(account["accessKey"]);
    if (accounts.has(accessKey)) continue;
    accounts.set(accessKey, {
      ...account,
      secretKey: MASK,
      admin: files.acl.accounts.get(accessKey)?.admin ?? false,
    });
  }
  return createResponse(
    ResponseCode.SUCCESS,
    null,
    {},
    encodeJson({
      globalWhiteAddrs: documents.flatMap((it) => it.globalWhiteAddrs()),
      plainAccessConfigs: [...accounts.values()],
    }),
  );
}

function holderOf(
  files: readonly PlainAclText[],
  accessKey: string,
): PlainAclText | undefined {
  return files.find((it) => it.acl.accounts.has(accessKey));
}

function documentOf(
  files: readonly PlainAclText[],
  path: string,
): AclDocument {
  return new AclDocument(files.find((it) => it.path === path)?.text ?? "");
}

/** A list with commas; undefined: the field is missing. */
function listOf(text: string | undefined): string[] | undefined {
  return text?.split(",").map((it) => it.trim()).filter((it) => it !== "");
}
