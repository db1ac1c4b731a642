/** Assertions for our own mistakes; never caught below main.ts. */

/** A bug of ours. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Throws `AssertionError` unless `condition` holds. */
export function assert(
  condition: unknown,
  message: string,
): asserts condition {
  if (!condition) throw new AssertionError(message);
}
