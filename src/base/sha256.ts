/** SHA-256, for comparing bytes that two nodes hold without sending them. */
import { createHash } from "node:crypto";

/** The digest of `parts`, one behind the other, in hex. */
export function sha256(parts: Iterable<Uint8Array>): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
