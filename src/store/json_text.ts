/** The text of one JSON file of `config/`, read and judged as every reader of ours does. */
import type { FileSystem } from "../io/file_system.ts";

/** Bigger files are not ours. */
const JSON_FILE_SIZE_MAX = 268_435_456;

/** What is in a file, or why it is of no use. */
export type JsonOutcome<T> =
  | { readonly kind: "good"; readonly value: T; readonly text: string }
  | { readonly kind: "absent" }
  | { readonly kind: "bad"; readonly reason: string };

/**
 * Reads a file as `parse` sees it, which throws on whatever it cannot take. Never throws for bad
 * content; throws `FileError` only when the device fails. Never writes.
 */
export function readJsonText<T>(
  fileSystem: FileSystem,
  path: string,
  parse: (text: string) => T,
): JsonOutcome<T> {
  const stat = fileSystem.stat(path);
  if (stat === undefined) return { kind: "absent" };
  if (stat.isDirectory) return { kind: "bad", reason: "is a folder" };
  if (stat.size === 0) return { kind: "bad", reason: "is empty" };
  if (stat.size > JSON_FILE_SIZE_MAX) {
    return { kind: "bad", reason: `has ${stat.size} bytes` };
  }
  const bytes = new Uint8Array(stat.size);
  const handle = fileSystem.open(path, "read");
  try {
    handle.readAt(0, bytes);
  } finally {
    handle.close();
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!isObjectText(text)) {
      return { kind: "bad", reason: "is not a JSON object" };
    }
    return { kind: "good", value: parse(text), text };
  } catch (error) {
    return { kind: "bad", reason: `cannot be parsed (${messageOf(error)})` };
  }
}

/** Why a file is not used, to follow its path in a sentence. */
export function reasonOf(outcome: JsonOutcome<unknown>): string {
  if (outcome.kind === "bad") return outcome.reason;
  return outcome.kind === "absent" ? "is missing" : "is good";
}

/** `null`, `[]`, `"<nil>"` and a longer old tail parse as something, but not as ours. */
function isObjectText(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith("{") && trimmed.endsWith("}");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
