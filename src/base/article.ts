/** Article: "an ASYNC_MASTER", "a SLAVE". */

/** `noun` behind its indefinite article, by its first letter. */
export function withArticle(noun: string): string {
  return `${/^[AEIOU]/i.test(noun) ? "an" : "a"} ${noun}`;
}
