/** HMAC-SHA1, with which RocketMQ's clients sign their requests (reference 14.1). */
import { createHmac } from "node:crypto";

/** Base64 of the HMAC-SHA1 of `text` in UTF-8 with `bytes` behind it. */
export function hmacSha1(
  secret: string,
  text: string,
  bytes: Uint8Array,
): string {
  return createHmac("sha1", secret).update(text, "utf8").update(bytes)
    .digest("base64");
}
