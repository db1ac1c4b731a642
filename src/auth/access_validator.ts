/**
 * refusalOf: whether a request may pass, in the order of Apache's PlainPermissionManager: the
 * global white list, the account and its own white list, the signature, what the account may.
 * Remarks are Apache's, with what to do behind them.
 */
import { shown } from "../base/shown.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import { accessKeyOf, isSignedWith } from "../protocol/request_signature.ts";
import { TopicNames } from "../model/topic_names.ts";
import type { AccessResource, AccessRule } from "./access_rule.ts";
import { type NeededPermission, permits } from "./permission.ts";
import type { PlainAccount, PlainAcl } from "./plain_acl.ts";
import { accessRuleOf } from "./request_access.ts";

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
  const rule = accessRuleOf(request.code);
  switch (rule.plain) {
    case "signed":
      return null;
    case "admin":
      return `Need admin permission for request code=${request.code}, but accessKey=${account.accessKey} is not`;
    case "resources":
      return resourceRefusal(account, rule, request);
  }
}

function resourceRefusal(
  account: PlainAccount,
  rule: AccessRule,
  request: RemotingCommand,
): string | null {
  for (const resource of rule.resources(request)) {
    if (resource.kind === "Cluster") continue;
    const { name } = resource;
    const needed = neededOf(rule, resource);
    // Whoever may send anything may trace what it sends.
    if (name === TopicNames.RMQ_SYS_TRACE_TOPIC && needed === "PUB") continue;
    const [own, fallback] = permissionsOf(account, resource);
    if (permits(own ?? fallback, needed)) continue;
    const which = own === undefined ? "No default permission" : "No permission";
    return `${which} for ${resource.kind.toLowerCase()}:${
      shown(name)
    }: accessKey=${account.accessKey} needs ${needed} on it`;
  }
  return null;
}

/** A message for the retry topic of a group is one that the group itself sends back. */
function neededOf(
  { actions }: AccessRule,
  { kind }: AccessResource,
): NeededPermission {
  return kind === "Topic" && actions.includes("PUB") ? "PUB" : "SUB";
}

/** The one for this name, and the one for all others. */
function permissionsOf(
  account: PlainAccount,
  { kind, name }: Exclude<AccessResource, { readonly kind: "Cluster" }>,
) {
  return kind === "Topic"
    ? [account.topicPerms.get(name), account.defaultTopicPerm] as const
    : [account.groupPerms.get(name), account.defaultGroupPerm] as const;
}
