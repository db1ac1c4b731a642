/** Whole inputs of a command line: files, pipes and devices, never more than a bound. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { FileError } from "../io/file_system.ts";
import { codeOf, fileErrorOf } from "./node_file_error.ts";
import type { InputFile } from "./process.ts";

const CHUNK_SIZE = 64 * 1024;
/** How long to leave an input alone that has nothing yet. */
const RETRY_MS = 5;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** What `path` gives until its end: a pipe or a device has no size that could be asked for. */
export function readInputFile(path: string, sizeMax: number): InputFile {
  try {
    const descriptor = openSync(path, "r");
    try {
      const isRegular = fstatSync(descriptor).isFile();
      return { bytes: readToEnd(descriptor, path, sizeMax), isRegular };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw error instanceof FileError ? error : fileErrorOf("open", path, error);
  }
}

/** What a stream gives until its end. Throws FileError beyond `sizeMax`. */
export async function readInputStream(
  stream: ReadableStream<Uint8Array>,
  sizeMax: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > sizeMax) throw tooLong("standard input", sizeMax);
    chunks.push(chunk);
  }
  return joined(chunks, size);
}

function readToEnd(
  descriptor: number,
  path: string,
  sizeMax: number,
): Uint8Array {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const chunk = new Uint8Array(CHUNK_SIZE);
    const count = readSome(descriptor, path, chunk);
    if (count === 0) return joined(chunks, size);
    size += count;
    if (size > sizeMax) throw tooLong(path, sizeMax);
    chunks.push(chunk.subarray(0, count));
  }
}

function readSome(
  descriptor: number,
  path: string,
  chunk: Uint8Array,
): number {
  for (;;) {
    try {
      return readSync(descriptor, chunk, 0, chunk.length, null);
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") throw fileErrorOf("read", path, error);
      Atomics.wait(sleeper, 0, 0, RETRY_MS);
    }
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function tooLong(path: string, sizeMax: number): FileError {
  return new FileError(
    `Cannot read ${path}: it has more than ${sizeMax} bytes; give less`,
    "other",
    path,
  );
}
