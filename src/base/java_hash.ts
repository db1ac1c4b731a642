/** Java's String.hashCode: tags codes, index keys and fingerprints depend on it. */

/** The 32-bit hash of the UTF-16 units of `text`. */
export function javaHashCode(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index++) {
    hash = (Math.imul(31, hash) + text.charCodeAt(index)) | 0;
  }
  return hash;
}
