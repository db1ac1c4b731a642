/** issueFields: what zod says of a request, as fields with sentences. */
import { z } from "@hono/zod-openapi";
import type { ProblemField } from "./problem.ts";

/** One piece of zod's errors, as far as the sentences need it. */
export interface Issue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly expected?: string;
  readonly origin?: string;
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly values?: readonly unknown[];
  readonly keys?: readonly string[];
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a JSON object",
  record: "a JSON object",
};

/** One entry for each field; those that nobody knows have one of their own. */
export function issueFields(issues: readonly Issue[]): ProblemField[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      return (issue.keys ?? []).map((key) => ({
        field: [...path, key].join("."),
        message: "there is no such field",
      }));
    }
    const field = path.length === 0 ? "body" : path.join(".");
    return [{ field, message: sentenceOf(issue) }];
  });
}

function sentenceOf(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type": {
      const wanted = EXPECTED[issue.expected ?? ""] ?? issue.expected;
      const isMissing = issue.message.endsWith("received undefined");
      return isMissing ? `missing; give ${wanted}` : `give ${wanted}`;
    }
    case "too_small":
      return issue.origin === "string"
        ? `give at least ${count(issue.minimum)}`
        : `give ${issue.minimum} or more`;
    case "too_big":
      return issue.origin === "string"
        ? `give at most ${count(issue.maximum)}`
        : `give ${issue.maximum} or less`;
    case "invalid_value":
      return `give one of ${(issue.values ?? []).join(", ")}`;
    default:
      return issue.message;
  }
}

function count(characters: number | bigint | undefined): string {
  return `${characters} character${Number(characters) === 1 ? "" : "s"}`;
}

/** A whole number in a query; strictly, as `1e3` and an empty text are none. */
export function wholeNumber(
  min = 0,
  max: number = Number.MAX_SAFE_INTEGER,
): z.ZodType<number, string> {
  return z.string().regex(/^\d{1,16}$/, "give a whole number")
    .transform(Number).pipe(z.int().min(min).max(max))
    .openapi({ type: "integer", minimum: min, maximum: max });
}
