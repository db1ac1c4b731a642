/**
 * Writes JSON in the layout of Apache's config files: tabs, no blank after a
 * colon, empty objects and arrays on one line. Keys keep their order.
 */

/** `value` as pretty JSON; `depth` is how many tabs its closing bracket gets. */
export function writePrettyFastjson(value: unknown, depth = 0): string {
  if (value === undefined || value === null) return "null";
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object") return JSON.stringify(value);
  const items = Array.isArray(value)
    ? value.map((it) => writePrettyFastjson(it, depth + 1))
    : membersOf(value, depth + 1);
  return Array.isArray(value)
    ? joinPretty("[", items, "]", depth)
    : joinPretty("{", items, "}", depth);
}

/** `{`, the members one a line, `}`; each member is `"key":value`. */
export function joinPrettyObject(
  members: readonly string[],
  depth: number,
): string {
  return joinPretty("{", members, "}", depth);
}

/** One member as `joinPrettyObject` takes it; `depth` is that of the object. */
export function prettyMember(
  key: string,
  value: unknown,
  depth: number,
): string {
  return `${JSON.stringify(key)}:${writePrettyFastjson(value, depth + 1)}`;
}

function membersOf(value: object, depth: number): string[] {
  const entries = value instanceof Map
    ? [...value as Map<unknown, unknown>]
    : Object.entries(value);
  const members: string[] = [];
  for (const [key, item] of entries) {
    if (item === undefined) continue;
    members.push(`${keyText(key, depth)}:${writePrettyFastjson(item, depth)}`);
  }
  return members;
}

/** A fastjson Map may have objects as keys. */
function keyText(key: unknown, depth: number): string {
  if (typeof key === "object" && key !== null) {
    return writePrettyFastjson(key, depth);
  }
  return JSON.stringify(String(key));
}

function joinPretty(
  open: string,
  items: readonly string[],
  close: string,
  depth: number,
): string {
  if (items.length === 0) return open + close;
  const inner = "\n" + "\t".repeat(depth + 1);
  return open + inner + items.join("," + inner) + "\n" + "\t".repeat(depth) +
    close;
}
