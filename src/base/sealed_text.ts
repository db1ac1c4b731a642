/**
 * Sealed texts: a secret that may be shown, since only who knows `key` can read it.
 *
 * The text is Base64 of the following.
 *
 * | offset | size | field      | note                                                    |
 * | -----: | ---: | ---------- | ------------------------------------------------------- |
 * |      0 |   12 | nonce      | HMAC-SHA256 of owner and secret: no two secrets share it |
 * |     12 |    n | ciphertext | AES-256-GCM, the owner as additional data               |
 * |   12+n |   16 | tag        |                                                         |
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
} from "node:crypto";

const NONCE_SIZE = 12;
const TAG_SIZE = 16;
const ALGORITHM = "aes-256-gcm";
const ENCODER = new TextEncoder();

/** Seals `secret` of `owner`; the same three give the same text. */
export function sealText(key: string, owner: string, secret: string): string {
  const nonce = createHmac("sha256", derived(key, "nonce"))
    .update(`${owner.length}:${owner}${secret}`, "utf8").digest()
    .subarray(0, NONCE_SIZE);
  const cipher = createCipheriv(ALGORITHM, derived(key, "text"), nonce);
  cipher.setAAD(ENCODER.encode(owner));
  const parts = [
    nonce,
    cipher.update(secret, "utf8"),
    cipher.final(),
    cipher.getAuthTag(),
  ];
  return btoa(parts.map((it) => String.fromCharCode(...it)).join(""));
}

/** What was sealed; undefined when it was with another key, of another owner, or not at all. */
export function openText(
  key: string,
  owner: string,
  sealed: string,
): string | undefined {
  const bytes = bytesOf(sealed);
  const end = bytes.length - TAG_SIZE;
  if (end < NONCE_SIZE) return undefined;
  const decipher = createDecipheriv(
    ALGORITHM,
    derived(key, "text"),
    bytes.subarray(0, NONCE_SIZE),
  );
  decipher.setAAD(ENCODER.encode(owner));
  decipher.setAuthTag(bytes.subarray(end));
  try {
    const secret = [
      decipher.update(bytes.subarray(NONCE_SIZE, end)),
      decipher.final(),
    ];
    const decoder = new TextDecoder();
    return secret.map((it) => decoder.decode(it, { stream: true })).join("") +
      decoder.decode();
  } catch {
    return undefined;
  }
}

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (it) => it.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}

function derived(key: string, use: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", `pocketmq ${use}`, 32));
}
