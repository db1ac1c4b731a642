/**
 * PlainAcl: the content of plain_acl.yml (reference 14.2), as Apache's PlainPermissionManager
 * reads it. What Apache passes over in silence, as a word that is no permission, is a fault here:
 * a file that decides who comes in should mean what it says.
 */
import { z } from "zod";
import { type Permission, permissionOf } from "./permission.ts";
import {
  type RemoteAddressPattern,
  remoteAddressPattern,
} from "./remote_address_pattern.ts";
import { AclFileError, parseYaml } from "./yaml_file.ts";

const KEY_LENGTH_MIN = 7;

/** Whose requests are signed with which secret, and what they may. */
export interface PlainAccount {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Who may use the name without a signature; null: nobody. */
  readonly whiteRemoteAddress: RemoteAddressPattern | null;
  /** May everything. */
  readonly admin: boolean;
  readonly defaultTopicPerm: Permission;
  readonly defaultGroupPerm: Permission;
  readonly topicPerms: ReadonlyMap<string, Permission>;
  readonly groupPerms: ReadonlyMap<string, Permission>;
}

/** One file. */
export interface PlainAcl {
  /** Addresses that may everything, without a signature. */
  readonly globalWhiteRemoteAddresses: readonly RemoteAddressPattern[];
  readonly accounts: ReadonlyMap<string, PlainAccount>;
}

/** A line without a value, or with YAML's words for none. */
function isNothing(text: unknown): boolean {
  return text === "" || text === "~" || text === "null";
}

/** What is left out or empty is `fallback`. */
function optional<T>(schema: z.ZodType<T>, fallback: T): z.ZodType<T> {
  return z.unknown().optional().transform((value, context): T => {
    if (value === undefined || isNothing(value)) return fallback;
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    for (const { message, path } of result.error.issues) {
      context.addIssue({ code: "custom", message, path: [...path] });
    }
    return z.NEVER;
  });
}

/** A text that `read` understands; the fault never repeats it. */
function textAs<T>(
  hint: string,
  read: (text: string) => T | undefined,
): z.ZodType<T> {
  return z.string({ error: hint }).transform((text, context): T => {
    const value = read(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: hint });
    return z.NEVER;
  });
}

const LONG_KEY = textAs(
  `give at least ${KEY_LENGTH_MIN} characters`,
  (text) => text.length >= KEY_LENGTH_MIN ? text : undefined,
);

/** As YAML 1.1, which Apache reads. */
const BOOLEAN = textAs("give true or false", (text) => {
  if (/^(?:true|yes|on)$/i.test(text)) return true;
  return /^(?:false|no|off)$/i.test(text) ? false : undefined;
});

const PATTERN = textAs(
  "give an address, as 10.0.0.7, or a pattern, as 10.0.0.*, 10.0.1-9.* or 10.0.0.{7,8}",
  remoteAddressPattern,
);

const PERMISSION = textAs("give DENY, PUB, SUB or PUB|SUB", permissionOf);

const NAMED_PERMISSION = textAs(
  "give name=permission, where permission is DENY, PUB, SUB or PUB|SUB",
  (text): readonly [string, Permission] | undefined => {
    const [name = "", word = "", ...rest] = text.split("=");
    const permission = permissionOf(word);
    if (name.trim() === "" || permission === undefined || rest.length > 0) {
      return undefined;
    }
    return [name.trim(), permission];
  },
);

function list<T>(schema: z.ZodType<T>): z.ZodType<readonly T[]> {
  return optional<readonly T[]>(
    z.array(schema, { error: "give a list, a line with - for each" }),
    [],
  );
}

/** An object of these keys and no other. */
function object<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `there is no key ${issue.keys[0]}; those are ${
          Object.keys(shape).join(", ")
        }`
        : `give the keys ${Object.keys(shape).join(", ")}`,
  });
}

const ACCOUNT = object({
  accessKey: LONG_KEY,
  secretKey: LONG_KEY,
  whiteRemoteAddress: optional<RemoteAddressPattern | null>(PATTERN, null),
  admin: optional(BOOLEAN, false),
  defaultTopicPerm: optional<Permission>(PERMISSION, "DENY"),
  defaultGroupPerm: optional<Permission>(PERMISSION, "DENY"),
  topicPerms: list(NAMED_PERMISSION),
  groupPerms: list(NAMED_PERMISSION),
});

const FILE = object({
  globalWhiteRemoteAddresses: list(PATTERN),
  accounts: list(ACCOUNT),
  /** Apache counts its own changes of the file here. */
  dataVersion: z.unknown().optional(),
});

/** Reads a file's text. Throws AclFileError. */
export function parsePlainAcl(text: string): PlainAcl {
  // An editor that is about to write leaves it so for a moment.
  if (text.trim() === "") throw new AclFileError("it is empty");
  const file = parseYaml(text, FILE);
  const accounts = new Map<string, PlainAccount>();
  for (const [index, account] of file.accounts.entries()) {
    const { accessKey, groupPerms, topicPerms } = account;
    const place = `accounts ${index + 1}`;
    if (accounts.has(accessKey)) {
      throw new AclFileError(`${place}: its accessKey is another account's`);
    }
    accounts.set(accessKey, {
      ...account,
      topicPerms: tableOf(topicPerms, `${place} topicPerms`),
      groupPerms: tableOf(groupPerms, `${place} groupPerms`),
    });
  }
  const { globalWhiteRemoteAddresses } = file;
  return { globalWhiteRemoteAddresses, accounts };
}

function tableOf(
  entries: readonly (readonly [string, Permission])[],
  place: string,
): ReadonlyMap<string, Permission> {
  const table = new Map<string, Permission>();
  for (const [index, [name, permission]] of entries.entries()) {
    if (table.has(name)) {
      throw new AclFileError(
        `${place} ${index + 1}: the name stands there twice`,
      );
    }
    table.set(name, permission);
  }
  return table;
}
