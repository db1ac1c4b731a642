/** isSameText: compares secrets. */

/** Compares in a time that does not depend on where the difference is. */
export function isSameText(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let index = 0; index < expected.length; index++) {
    difference |= expected.charCodeAt(index) ^ (given.charCodeAt(index) || 0);
  }
  return difference === 0;
}
