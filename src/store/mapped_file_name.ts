/** Names of MappedFiles: the offset of the first byte, 20 decimal digits. */

const DIGITS = 20;

/** `1024` → `00000000000000001024`. */
export function mappedFileName(fileFromOffset: number): string {
  return String(fileFromOffset).padStart(DIGITS, "0");
}

/** The offset in a file name; undefined when the name is not one of ours. */
export function offsetOfMappedFileName(name: string): number | undefined {
  if (name.length !== DIGITS) return undefined;
  for (let index = 0; index < DIGITS; index++) {
    const unit = name.charCodeAt(index);
    if (unit < 48 || unit > 57) return undefined;
  }
  const offset = Number(name);
  return Number.isSafeInteger(offset) ? offset : undefined;
}
