/**
 * refusalOf: whether a request may pass, in the order of Apache's PlainPermissionManager: the
 * global white list, the account and its own white list, the signature, what the account may.
 * Remarks are Apache's, with what to do behind them.
 */
import { shown } from "../base/shown.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import { accessKeyOf, isSignedWith } from "../protocol/request_signature.ts";
import {
  type AccessResource,
  accessResourcesOf,
  needsAdmin,
} from "./access_resources.ts";
import { permits } from "./permission.ts";
import type { PlainAccount, PlainAcl } from "./plain_acl.ts";

const NAME_LENGTH_MAX = 64;

/** One sentence; null for a request that may pass. Throws BodyError for an unreadable heartbeat. */
export function refusalOf(
  { accounts, globalWhiteRemoteAddresses }: PlainAcl,
  request: RemotingCommand,
  remoteAddress: Uint8Array,
): string | null {
  if (globalWhiteRemoteAddresses.some((it) => it(remoteAddress))) return null;
  const accessKey = accessKeyOf(request);
  if (accessKey === undefined) {
    return "No accessKey is configured: this broker asks for signed requests, give the client its accessKey and secretKey";
  }
  const account = accounts.get(accessKey);
  const name = shown(accessKey, NAME_LENGTH_MAX);
  if (account === undefined) {
    return `No acl config for ${name}: this broker has no such account`;
  }
  if (account.whiteRemoteAddress?.(remoteAddress)) return null;
  if (!isSignedWith(request, account.secretKey)) {
    return `Check signature failed for accessKey=${name}: the secretKey is another one here`;
  }
  return permissionRefusal(account, request);
}

function permissionRefusal(
  account: PlainAccount,
  request: RemotingCommand,
): string | null {
  if (account.admin) return null;
  if (needsAdmin(request.code)) {
    return `Need admin permission for request code=${request.code}, but accessKey=${account.accessKey} is not`;
  }
  for (const resource of accessResourcesOf(request)) {
    const { kind, name, needed } = resource;
    const own = ownPermission(account, resource);
    if (permits(own ?? defaultPermission(account, kind), needed)) continue;
    const which = own === undefined ? "No default permission" : "No permission";
    return `${which} for ${kind}:${
      shown(name)
    }: accessKey=${account.accessKey} needs ${needed} on it`;
  }
  return null;
}

function ownPermission(
  { groupPerms, topicPerms }: PlainAccount,
  { kind, name }: AccessResource,
) {
  return (kind === "topic" ? topicPerms : groupPerms).get(name);
}

function defaultPermission(
  { defaultGroupPerm, defaultTopicPerm }: PlainAccount,
  kind: AccessResource["kind"],
) {
  return kind === "topic" ? defaultTopicPerm : defaultGroupPerm;
}
