/** CorruptRecordError: bytes that claim to be a message and are not one. */
export class CorruptRecordError extends Error {
  override readonly name = "CorruptRecordError";
}
