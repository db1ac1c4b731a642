/** escaped: text of strangers as a terminal may be given it. */

const SHORT: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

/** Control characters, and those that turn the direction of text, as `\u001b`. */
export function escaped(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu,
    (it) => SHORT[it] ?? `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
