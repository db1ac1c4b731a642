/**
 * Java properties text as requests carry it (codes 25, 26, 318, 319): one
 * `key=value` a line. Configuration files are read in src/config.
 */

const ESCAPES: Readonly<Record<string, string>> = {
  t: "\t",
  n: "\n",
  r: "\r",
  f: "\f",
};

/** Keys and values by java.util.Properties' rules; the last of a key wins. */
export function parseJavaProperties(text: string): Map<string, string> {
  const properties = new Map<string, string>();
  for (const line of logicalLines(text)) {
    const end = keyEnd(line);
    const value = line.slice(end).replace(/^[ \t\f]*[=:]?[ \t\f]*/, "");
    properties.set(unescape(line.slice(0, end)), unescape(value));
  }
  return properties;
}

/** One `key=value` a line; control characters and backslashes are escaped. */
export function formatJavaProperties(
  entries: Iterable<readonly [string, string]>,
): string {
  let text = "";
  for (const [key, value] of entries) {
    text += `${escape(key)}=${escape(value)}\n`;
  }
  return text;
}

/** Lines without comments and blanks, those that end in a backslash joined to the next. */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let pending = "";
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const line = raw.replace(/^[ \t\f]+/, "");
    if (pending === "" && (line === "" || /^[#!]/.test(line))) continue;
    const isContinued = /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
    pending += isContinued ? line.slice(0, -1) : line;
    if (isContinued) continue;
    lines.push(pending);
    pending = "";
  }
  if (pending !== "") lines.push(pending);
  return lines;
}

/** The key ends at the first `=`, `:` or blank that no backslash escapes. */
function keyEnd(line: string): number {
  for (let index = 0; index < line.length; index++) {
    const unit = line[index]!;
    if (unit === "\\") index++;
    else if ("=: \t\f".includes(unit)) return index;
  }
  return line.length;
}

function unescape(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|(.?))/gs,
    (_, hex: string | undefined, letter: string | undefined) =>
      hex === undefined
        ? ESCAPES[letter ?? ""] ?? letter ?? ""
        : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r");
}
