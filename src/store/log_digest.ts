/** digestOf: what two nodes compare of their logs without sending them. */
import { sha256 } from "../base/sha256.ts";
import type { ReplicaLog } from "./replica_log.ts";

/**
 * SHA-256 of the bytes from `fromOffset` to `toOffset`, in hex; null when not all of them are
 * there. Throws `FileError`.
 */
export async function digestOf(
  log: Pick<ReplicaLog, "minOffset" | "maxOffset" | "mappedFileSize" | "read">,
  fromOffset: number,
  toOffset: number,
): Promise<string | null> {
  if (fromOffset < log.minOffset || toOffset > log.maxOffset) return null;
  const size = log.mappedFileSize;
  const parts: Uint8Array[] = [];
  for (let at = fromOffset; at < toOffset;) {
    const end = Math.min(toOffset, at - at % size + size);
    const part = new Uint8Array(end - at);
    if (!await log.read(at, part)) return null;
    parts.push(part);
    at = end;
  }
  return sha256(parts);
}
