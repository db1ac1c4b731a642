/** initialUsers: what a start adds to the table, each user only where there is none of its name. */
import type { PlainAccount } from "../plain_acl.ts";
import type { Permission } from "../permission.ts";
import type { AuthTable } from "./auth_table.ts";
import type { Acl, ActionName, PolicyEntry, PolicyType } from "./policy.ts";
import { resourceKey, type ResourcePattern } from "./resource_pattern.ts";

/** A super user of the configuration. */
export interface InitialUser {
  readonly username: string;
  readonly password: string;
}

/** `initAuthenticationUser`, `innerClientAuthenticationCredentials`. Throws AuthError. */
export function withSuperUsers(
  table: AuthTable,
  users: readonly InitialUser[],
): AuthTable {
  return users.reduce((it, { password, username }) => {
    if (it.users.has(username)) return it;
    return it.withUser({
      username,
      password,
      userType: "Super",
      userStatus: undefined,
    });
  }, table);
}

/**
 * `migrateAuthFromV1Enabled`: accounts of 4.x become users, their permissions policies, as Apache's
 * AuthMigrator makes them. White lists of addresses have no counterpart. Throws AuthError.
 */
export function withAccounts(
  table: AuthTable,
  accounts: Iterable<PlainAccount>,
): AuthTable {
  let result = table;
  for (const account of accounts) {
    const { accessKey, admin, secretKey } = account;
    if (result.users.has(accessKey)) continue;
    result = result.withUser({
      username: accessKey,
      password: secretKey,
      userType: admin ? "Super" : "Normal",
      userStatus: undefined,
    });
    const acl = aclOf(account);
    if (acl.size > 0) result = result.withAcl(accessKey, acl);
  }
  return result;
}

function aclOf(account: PlainAccount): Acl {
  const { defaultGroupPerm, defaultTopicPerm } = account;
  const acl = new Map<PolicyType, Map<string, PolicyEntry>>();
  const add = (
    type: PolicyType,
    resource: ResourcePattern,
    permission: Permission,
  ) => {
    const policy = acl.get(type) ?? new Map<string, PolicyEntry>();
    acl.set(
      type,
      policy.set(resourceKey(resource), {
        resource,
        actions: ACTIONS[permission],
        sourceIps: [],
        decision: permission === "DENY" ? "Deny" : "Allow",
      }),
    );
  };
  for (const [name, permission] of account.topicPerms) {
    add("Custom", { type: "Topic", kind: "LITERAL", name }, permission);
  }
  for (const [name, permission] of account.groupPerms) {
    add("Custom", { type: "Group", kind: "LITERAL", name }, permission);
  }
  // Where nothing matches is no: a default of DENY needs no policy.
  if (defaultTopicPerm !== "DENY") {
    add("Default", { type: "Topic", kind: "ANY", name: "" }, defaultTopicPerm);
  }
  if (defaultGroupPerm !== "DENY") {
    add("Default", { type: "Group", kind: "ANY", name: "" }, defaultGroupPerm);
  }
  return acl;
}

const ACTIONS: Readonly<Record<Permission, readonly ActionName[]>> = {
  DENY: ["All"],
  PUB: ["Pub"],
  SUB: ["Sub"],
  "PUB|SUB": ["Pub", "Sub"],
};
