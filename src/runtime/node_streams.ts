/** Standard streams, written synchronously on both runtimes. */
import { writeSync } from "node:fs";
import { codeOf } from "./node_file_error.ts";

const DESCRIPTOR = { stdout: 1, stderr: 2 } as const;

/** How long to leave a full pipe alone before trying again. */
const RETRY_MS = 1;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes all of `bytes`, waiting where a pipe is full. False when the reader
 * has gone: what is written then is lost, and that is no failure of ours.
 */
export function writeStream(
  stream: "stdout" | "stderr",
  bytes: Uint8Array,
): boolean {
  const descriptor = DESCRIPTOR[stream];
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(descriptor, bytes, done, bytes.length - done);
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") return false;
      Atomics.wait(sleeper, 0, 0, RETRY_MS);
    }
  }
  return true;
}
