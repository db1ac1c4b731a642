/** Policies of a user: what it may do with which resources, from where. */
import type { Action } from "../access_rule.ts";
import type { ResourcePattern } from "./resource_pattern.ts";

/** Actions as AclInfo names them. */
export const ACTION_NAMES = [
  "Unknown",
  "All",
  "Any",
  "Pub",
  "Sub",
  "Create",
  "Update",
  "Delete",
  "Get",
  "List",
] as const;

/** One of them. */
export type ActionName = typeof ACTION_NAMES[number];

/** Allow or deny. */
export type Decision = "Allow" | "Deny";

/** Default ones count where no custom one matches. */
export type PolicyType = "Custom" | "Default";

/** What holds for one resource. */
export interface PolicyEntry {
  readonly resource: ResourcePattern;
  readonly actions: readonly ActionName[];
  /** As they were given; empty: from everywhere. */
  readonly sourceIps: readonly string[];
  readonly decision: Decision;
}

/** Entries by the text of their resource, in the order in which they came. */
export type Policy = ReadonlyMap<string, PolicyEntry>;

/** Policies of one user by type, in the order in which they came. */
export type Acl = ReadonlyMap<PolicyType, Policy>;

/** `acl` with the entries of `changes`, which take the place of those for the same resource. */
export function updatedAcl(acl: Acl, changes: Acl): Acl {
  const result = new Map(acl);
  for (const [type, policy] of changes) {
    result.set(type, new Map([...result.get(type) ?? [], ...policy]));
  }
  return result;
}

/** `acl` without one entry, and without a policy that has none left. */
export function withoutEntry(
  acl: Acl,
  type: PolicyType,
  resourceKey: string,
): Acl {
  const policy = new Map(acl.get(type) ?? []);
  policy.delete(resourceKey);
  const result = new Map(acl);
  if (policy.size === 0) result.delete(type);
  else result.set(type, policy);
  return result;
}

/** True when an entry for `given` counts for a request that any of `wanted` allows. */
export function hasAction(
  given: readonly ActionName[],
  wanted: readonly Action[],
): boolean {
  return given.some((it) =>
    it === "All" || wanted.includes(it.toUpperCase() as Action)
  );
}
