/**
 * Who may use the admin API.
 *
 * - A token, once set, is asked for everywhere but on the probes and the empty dashboard page.
 * - Without the token, `Host` must be an IP address or localhost: a name that a stranger
 *   controls (DNS rebinding) is refused.
 * - A change from a browser must come from a page of this server, and bodies must be JSON.
 */
import type { MiddlewareHandler } from "hono";
import { isSameText } from "../base/same_text.ts";
import { ProblemError } from "./problem.ts";

/** Paths that show nothing worth a token. */
const OPEN_PATHS: ReadonlySet<string> = new Set([
  "/",
  "/dashboard.js",
  "/dashboard.css",
  "/livez",
  "/readyz",
  "/healthz",
]);

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** What the access rules depend on. */
export interface AdminAccess {
  /** Empty: no token is asked for. */
  readonly token: string;
}

/** Throws ProblemError 401, 403 or 415 when the request may not go on. */
export function checkAccess(request: Request, access: AdminAccess): void {
  const url = new URL(request.url);
  const hasToken = access.token !== "" &&
    isSameText(bearerOf(request), access.token);
  if (access.token !== "" && !hasToken && !OPEN_PATHS.has(url.pathname)) {
    throw new ProblemError(401, "Send the token: Authorization: Bearer TOKEN");
  }
  if (!hasToken && !isAddressOrLocalhost(url.hostname)) {
    throw new ProblemError(
      403,
      `Host ${url.hostname} is refused: use the IP address or localhost`,
    );
  }
  if (!SAFE_METHODS.has(request.method)) checkChange(request, url);
}

function checkChange(request: Request, url: URL): void {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  const isForeign = origin !== null
    ? !isSameHost(origin, url)
    : site !== null && site !== "same-origin" && site !== "none";
  if (isForeign) {
    throw new ProblemError(
      403,
      "Changes are accepted from pages of this server only",
    );
  }
  const type = request.headers.get("content-type");
  if (
    request.body !== null && !/^application\/json\s*(?:;|$)/i.test(type ?? "")
  ) {
    throw new ProblemError(415, "Send Content-Type: application/json");
  }
}

function isSameHost(origin: string, url: URL): boolean {
  try {
    return new URL(origin).host === url.host;
  } catch {
    return false; // "null" of a sandboxed page.
  }
}

function isAddressOrLocalhost(hostname: string): boolean {
  return hostname === "localhost" || hostname.startsWith("[") ||
    /^\d{1,3}(?:\.\d{1,3}){3}$/.test(hostname);
}

function bearerOf(request: Request): string {
  const header = request.headers.get("authorization") ?? "";
  return /^bearer /i.test(header) ? header.slice(7).trim() : "";
}

/** Hangs the rules before all routes. */
export function accessRules(access: () => AdminAccess): MiddlewareHandler {
  return async (context, next) => {
    checkAccess(context.req.raw, access());
    await next();
  };
}
