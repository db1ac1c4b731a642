/** What is compressed is broken, or larger than allowed. */
export class CompressionError extends Error {
  override readonly name: string = "CompressionError";
}
