/** shown: how a text of strangers stands in remarks, log lines and errors. */

/** No valid name is longer: whatever is right is shown whole. */
const SHOWN_LENGTH_MAX = 255;

/** Names of a list that are shown. */
const SHOWN_NAMES_MAX = 10;

/** `text` as one short line: cut with `...` at `lengthMax`, control characters as `?`. */
export function shown(text: string, lengthMax = SHOWN_LENGTH_MAX): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}...` : text;
  return cut.replace(/[\p{Cc}\p{Cf}]/gu, "?");
}

/** `a, b and 7 more`. */
export function shownList(texts: readonly string[]): string {
  const first = texts.slice(0, SHOWN_NAMES_MAX).map((it) => shown(it, 64));
  const more = texts.length - first.length;
  return first.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
