/** shown: how a text of strangers stands in remarks, log lines and errors. */

/** No valid name is longer: whatever is right is shown whole. */
const SHOWN_LENGTH_MAX = 255;

/** `text` as one short line: cut with `...` at `lengthMax`, control characters as `?`. */
export function shown(text: string, lengthMax = SHOWN_LENGTH_MAX): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}...` : text;
  return cut.replace(/[\p{Cc}\p{Cf}]/gu, "?");
}
