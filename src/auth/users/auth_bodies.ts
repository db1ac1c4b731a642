/** UserInfo and AclInfo: users and policies as JSON, in requests, in answers and on disk. */
import { shown } from "../../base/shown.ts";
import {
  arrayField,
  type JsonObject,
  objectOf,
  optionalTextField,
  textArrayField,
} from "../../protocol/body/json_fields.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import { AuthError } from "./auth_error.ts";
import type { UserChange } from "./auth_table.ts";
import {
  type Acl,
  ACTION_NAMES,
  type ActionName,
  type PolicyEntry,
  type PolicyType,
} from "./policy.ts";
import { parseResource, resourceKey } from "./resource_pattern.ts";
import { parseSourceIp } from "./source_ip.ts";
import { type User, userStatusOf, userTypeOf, wordOf } from "./user.ts";

/** Addresses of one entry. */
const SOURCE_IPS_MAX = 1_000;

/** Reads UserInfo of `username`; the body's own name does not count. Throws AuthError, BodyError. */
export function userChangeFromJson(
  username: string,
  json: JsonObject,
): UserChange {
  const type = optionalTextField(json, "userType") ?? "";
  const status = optionalTextField(json, "userStatus") ?? "";
  return {
    username,
    password: optionalTextField(json, "password"),
    userType: type === ""
      ? undefined
      : userTypeOf(type) ?? wrong("userType", type, "Super or Normal"),
    userStatus: status === "" ? undefined : userStatusOf(status) ??
      wrong("userStatus", status, "enable or disable"),
  };
}

/** UserInfo; `password` as it may be shown. */
export function userToJson(
  { userStatus, userType, username }: User,
  password: string | undefined,
): JsonObject {
  return { password, userStatus, userType, username };
}

/** Reads the policies of AclInfo. Throws AuthError, BodyError. */
export function aclFromJson(json: JsonObject): Acl {
  const acl = new Map<PolicyType, Map<string, PolicyEntry>>();
  for (const value of arrayField(json, "policies")) {
    const policy = objectOf(value, "policies");
    const typeText = optionalTextField(policy, "policyType") ?? "Custom";
    const type = policyTypeOf(typeText);
    const entries = acl.get(type) ?? new Map<string, PolicyEntry>();
    for (const it of arrayField(policy, "entries")) {
      const entry = entryFromJson(objectOf(it, "entries"));
      entries.set(resourceKey(entry.resource), entry);
    }
    if (entries.size === 0) throw refused("The policy entries is empty.");
    acl.set(type, entries);
  }
  return acl;
}

/** Custom or Default, in any case. Throws AuthError. */
export function policyTypeOf(text: string): PolicyType {
  return wordOf(["Custom", "Default"], text) ??
    wrong("policyType", text, "Custom or Default");
}

function entryFromJson(json: JsonObject): PolicyEntry {
  const resourceText = optionalTextField(json, "resource") ?? "";
  const resource = parseResource(resourceText.trim());
  if (resource === undefined) {
    throw refused(
      `The resource is null. ${
        shown(resourceText)
      } is none; give *, or Topic:, Group: or Cluster: and a name, a prefix with * or *`,
    );
  }
  const decisionText = optionalTextField(json, "decision") ?? "";
  const decision = wordOf(["Allow", "Deny"], decisionText);
  if (decision === undefined) {
    throw refused(
      `The decision is null or illegal. ${
        shown(decisionText)
      } is none; give Allow or Deny`,
    );
  }
  return {
    resource,
    actions: actionsOf(json),
    sourceIps: sourceIpsOf(json),
    decision,
  };
}

function actionsOf(json: JsonObject): ActionName[] {
  const given = textArrayField(json, "actions");
  const actions = given.flatMap((it) => wordOf(ACTION_NAMES, it) ?? []);
  if (actions.length === 0) {
    throw refused(
      "The actions is empty. Give All, Pub, Sub, Create, Update, Delete, Get or List",
    );
  }
  if (actions.includes("Any")) throw refused("The actions can not be Any.");
  return [...new Set(actions)];
}

function sourceIpsOf(json: JsonObject): string[] {
  const sourceIps = textArrayField(json, "sourceIps").map((it) => it.trim());
  if (sourceIps.length > SOURCE_IPS_MAX) {
    throw refused(
      `The source ips are more than ${SOURCE_IPS_MAX}: give blocks`,
    );
  }
  for (const it of sourceIps) {
    if (it === "") throw refused("The source ip is empty.");
    if (parseSourceIp(it) === undefined) {
      throw refused(
        `The source ip is invalid. ${
          shown(it)
        } is none; give an address, or a block as 10.0.0.0/8`,
      );
    }
  }
  return sourceIps;
}

/** AclInfo of a user; without policies where there are none. */
export function aclToJson(username: string, acl: Acl | undefined): JsonObject {
  return {
    policies: [...acl ?? []].map(([policyType, policy]) => ({
      entries: [...policy.values()].map(entryToJson),
      policyType,
    })),
    subject: subjectOf(username),
  };
}

function entryToJson(entry: PolicyEntry): JsonObject {
  const { actions, decision, resource, sourceIps } = entry;
  return {
    actions,
    decision,
    resource: resourceKey(resource),
    ...(sourceIps.length === 0 ? {} : { sourceIps }),
  };
}

/** `User:name`. */
export function subjectOf(username: string): string {
  return `User:${username}`;
}

/** The name of `User:name`. Throws AuthError. */
export function usernameOf(subject: string): string {
  const colon = subject.indexOf(":");
  const name = subject.slice(colon + 1);
  if (
    colon < 0 || subject.slice(0, colon).toLowerCase() !== "user" || name === ""
  ) {
    wrong("subject", subject, "User: and a name");
  }
  return name;
}

function wrong(field: string, value: string, hint: string): never {
  throw new AuthError(
    ResponseCode.INVALID_PARAMETER,
    `Cannot use ${field} ${shown(value)}: give ${hint}`,
  );
}

function refused(sentence: string): AuthError {
  return new AuthError(ResponseCode.NO_PERMISSION, sentence);
}
