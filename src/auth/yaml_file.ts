/**
 * Small YAML files of people's: read as plain text values, since a secret 0123456 means just that.
 *
 * Every fault is an AclFileError: one sentence that names the place and never a value that may be
 * a secret.
 */
import { parseDocument } from "yaml";
import { z } from "zod";

/** Characters of a file. */
const TEXT_LENGTH_MAX = 1024 * 1024;

/** A file of access control that cannot be used. */
export class AclFileError extends Error {
  override readonly name = "AclFileError";
}

/** Reads `text` into what `schema` makes of it. Throws AclFileError. */
export function parseYaml<T>(text: string, schema: z.ZodType<T>): T {
  if (text.length > TEXT_LENGTH_MAX) {
    throw new AclFileError(`it has more than ${TEXT_LENGTH_MAX} characters`);
  }
  const result = schema.safeParse(valueOf(text));
  if (result.success) return result.data;
  const { message, path } = result.error.issues[0]!;
  throw new AclFileError(
    path.length === 0 ? message : `${placeOf(path)}: ${message}`,
  );
}

function valueOf(text: string): unknown {
  const document = parseDocument(text, {
    schema: "failsafe",
    // Its errors and warnings quote the line, and that may hold a secret.
    prettyErrors: false,
    logLevel: "error",
  });
  const error = document.errors[0] ?? document.warnings[0];
  if (error !== undefined) {
    const before = text.slice(0, error.pos[0]).split("\n");
    const column = before.at(-1)!.length + 1;
    throw new AclFileError(
      `line ${before.length}, column ${column} is no plain YAML (${error.code})`,
    );
  }
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new AclFileError("it refers to other places of itself: write it out");
  }
}

/** `accounts[2].topicPerms[0]`, counted from 1 as people count. */
function placeOf(path: readonly PropertyKey[]): string {
  return path.map((it) =>
    typeof it === "number" ? ` ${it + 1}` : ` ${String(it)}`
  ).join("").trim();
}
