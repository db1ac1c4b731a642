/** Requests to the admin port of a broker. */
import type { CliContext } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";

/** Where `broker` and `standalone` serve it. */
export const DEFAULT_ADMIN = "http://127.0.0.1:10913";
const TIMEOUT_MS = 5_000;

/** What is sent beside the URL. */
export interface AdminRequest {
  readonly method: "POST";
  /** Becomes JSON. */
  readonly body: unknown;
  readonly timeoutMs: number;
}

/** `path` at the address that `--admin` gave. Throws CliError. */
export function adminUrl(admin: string, path: string): URL {
  try {
    return new URL(path, admin);
  } catch (error) {
    throw new CliError(
      `Cannot use --admin ${admin}: give a URL as ${DEFAULT_ADMIN}`,
      2,
      { cause: error },
    );
  }
}

/** The answer, whatever its status; POCKETMQ_ADMIN_TOKEN opens a guarded port. Throws CliError. */
export async function askAdmin(
  context: CliContext,
  url: URL,
  request?: AdminRequest,
): Promise<Response> {
  const abort = new AbortController();
  const timeoutMs = request?.timeoutMs ?? TIMEOUT_MS;
  const timer = context.runtime.clock.after(timeoutMs, () => abort.abort());
  const token = context.process.env.POCKETMQ_ADMIN_TOKEN ?? "";
  const headers: Record<string, string> = token === ""
    ? {}
    : { authorization: `Bearer ${token}` };
  if (request !== undefined) headers["content-type"] = "application/json";
  try {
    return await fetch(url, {
      headers,
      signal: abort.signal,
      ...(request === undefined
        ? {}
        : { method: request.method, body: JSON.stringify(request.body) }),
    });
  } catch (error) {
    const reason = abort.signal.aborted
      ? `no answer within ${
        timeoutMs / 1000
      } s; see the log of what listens there`
      : failureOf(error);
    throw new CliError(`Cannot reach ${url.origin}: ${reason}`, 1, {
      cause: error,
    });
  } finally {
    timer.cancel();
  }
}

/** The JSON of a successful answer. Throws CliError with the problem's sentence. */
export async function adminJson(
  context: CliContext,
  url: URL,
  request?: AdminRequest,
): Promise<unknown> {
  const answer = await askAdmin(context, url, request);
  const text = await answer.text();
  try {
    const body = JSON.parse(text) as { detail?: unknown };
    if (answer.ok) return body;
    throw new CliError(
      `${url.href} answers ${answer.status}: ${
        body.detail ?? "no reason given"
      }`,
      1,
    );
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      `${url.href} is no admin port of a broker: give another by --admin (adminPort, 10913 by default)`,
      1,
      {
        cause: error,
      },
    );
  }
}

/** The runtimes name failures of a connection in ways of their own. */
function failureOf(error: unknown): string {
  const { cause, code, message } = error as Error & { readonly code?: string };
  const text = `${code} ${message} ${cause}`;
  if (/ENOTFOUND|dns error/i.test(text)) {
    return "the host is not known; correct --admin, the URL of a broker's adminPort";
  }
  return /reset|closed|Malformed|SendRequest|invalid/i.test(text)
    ? "what listens there speaks no HTTP; --admin is the URL of adminPort, 10913 by default"
    : "nobody listens there; does the broker run? --admin is the URL of its adminPort, 10913 by default";
}
