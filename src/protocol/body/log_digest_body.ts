/** LogDigestBody: what a PocketMQ broker answers to DIGEST_COMMIT_LOG (31003). */
import {
  decodeJson,
  encodeJson,
  intField,
  objectOf,
  optionalTextField,
} from "./json_fields.ts";

/** A stretch of a CommitLog, and where that log begins and ends. */
export interface LogDigestBody {
  /** SHA-256 of the bytes, in hex; null when the log does not hold all of them. */
  readonly digest: string | null;
  readonly minOffset: number;
  readonly maxOffset: number;
}

/** Bytes of one stretch at most. */
export const LOG_DIGEST_SIZE_MAX = 1_048_576;

/** The body. */
export function encodeLogDigest(body: LogDigestBody): Uint8Array {
  return encodeJson(body);
}

/** Reads that body. Throws `BodyError`. */
export function decodeLogDigest(bytes: Uint8Array): LogDigestBody {
  const json = objectOf(decodeJson(bytes, "LogDigest"), "LogDigest");
  return {
    digest: optionalTextField(json, "digest") ?? null,
    minOffset: intField(json, "minOffset", 0),
    maxOffset: intField(json, "maxOffset", 0),
  };
}
