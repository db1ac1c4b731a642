/** Problem JSON (RFC 9457): every error of the admin API, naming the field it is about. */
import { OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context, Env, ErrorHandler } from "hono";
import { type Issue, issueFields } from "./issue_fields.ts";

/** Statuses that the API answers errors with. */
export type ProblemStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 409
  | 413
  | 415
  | 500
  | 501
  | 503;

const TITLES: Readonly<Record<ProblemStatus, string>> = {
  400: "Bad request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  413: "Content too large",
  415: "Unsupported media type",
  500: "Internal error",
  501: "Not implemented",
  503: "Not ready",
};

/** One field of the request that is wrong. */
export interface ProblemField {
  readonly field: string;
  readonly message: string;
}

/** Thrown by handlers and facades; becomes problem JSON. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  constructor(
    readonly status: ProblemStatus,
    /** One sentence. */
    detail: string,
    readonly fields: readonly ProblemField[] = [],
    options?: ErrorOptions,
  ) {
    super(detail, options);
  }
}

/** The body of an error. */
export const ProblemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  errors: z.array(z.object({ field: z.string(), message: z.string() }))
    .optional(),
}).openapi("Problem");

/** For the `responses` of a route. */
export const PROBLEM_RESPONSE = {
  description: "What went wrong, and in which field",
  content: { "application/problem+json": { schema: ProblemSchema } },
} as const;

/** Writes problem JSON. */
export function problem(
  context: Context,
  status: ProblemStatus,
  detail: string,
  fields: readonly ProblemField[] = [],
): Response {
  const body = {
    type: "about:blank",
    title: TITLES[status],
    status,
    detail,
    instance: new URL(context.req.url).pathname,
    ...(fields.length > 0 ? { errors: fields } : {}),
  };
  return context.body(JSON.stringify(body), status, {
    "content-type": "application/problem+json",
  });
}

/** Told of failures that are ours. */
export type FailureListener = (path: string, error: unknown) => void;

/** Turns everything thrown into problem JSON. */
export function onErrorOf<E extends Env>(
  onFailure: FailureListener,
): ErrorHandler<E> {
  return (error, context) => {
    if (error instanceof ProblemError) {
      return problem(context, error.status, error.message, error.fields);
    }
    if (isBadJson(error)) {
      return problem(
        context,
        400,
        "The body is no JSON: give one JSON object",
        [
          { field: "body", message: "give one JSON object" },
        ],
      );
    }
    onFailure(context.req.path, error);
    return problem(context, 500, `It failed: ${error.message}`);
  };
}

/** hono throws this for a body that does not parse. */
function isBadJson(error: Error): boolean {
  return error instanceof SyntaxError ||
    (error as { status?: unknown }).status === 400;
}

/** A sub-application whose validation errors are problem JSON. */
export function adminRoutes(): OpenAPIHono {
  return new OpenAPIHono({
    defaultHook: (result, context) => {
      if (result.success) return;
      const fields = issueFields(result.error.issues as readonly Issue[]);
      const first = fields[0]!;
      return problem(
        context,
        400,
        `Field ${first.field}: ${first.message}`,
        fields,
      );
    },
  });
}

/** For lookups by name; the field is the noun. */
export function notFound(noun: string, name: string): ProblemError {
  return new ProblemError(
    404,
    `${noun} ${name} does not exist: list what does, or create it`,
    [
      { field: noun.toLowerCase(), message: "there is none of that name" },
    ],
  );
}

/** For deletions: brokers make it anew, and need it. */
export function ofTheSystem(noun: string, name: string): ProblemError {
  return new ProblemError(
    400,
    `${noun} ${name} belongs to the system: name one of your own`,
    [{ field: noun.toLowerCase(), message: "name one of your own" }],
  );
}
