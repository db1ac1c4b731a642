/** Permissions of plain_acl.yml, in Apache's words. */

/** `DENY` holds against everything; `PUB|SUB` is both. */
export type Permission = "DENY" | "PUB" | "SUB" | "PUB|SUB";

/** What a request needs of a topic or a group. */
export type NeededPermission = "PUB" | "SUB";

/** Reads a word; undefined when it is none. */
export function permissionOf(text: string): Permission | undefined {
  switch (text.trim()) {
    case "DENY":
      return "DENY";
    case "PUB":
      return "PUB";
    case "SUB":
      return "SUB";
    case "PUB|SUB":
    case "SUB|PUB":
      return "PUB|SUB";
    default:
      return undefined;
  }
}

/** True when `owned` is enough for `needed`. */
export function permits(owned: Permission, needed: NeededPermission): boolean {
  return owned === needed || owned === "PUB|SUB";
}
