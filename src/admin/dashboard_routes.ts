/** The dashboard: three assets from memory; its data comes from /admin. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { DASHBOARD_PAGE, DASHBOARD_STYLE } from "./dashboard_page.ts";
import { DASHBOARD_SCRIPT } from "./dashboard_script.ts";
import { adminRoutes } from "./problem.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** The routes. */
export function dashboardRoutes(): OpenAPIHono {
  const app = adminRoutes();
  const serve = (path: string, type: string, text: string) =>
    app.get(path, (c) =>
      c.body(text, 200, {
        "content-type": `${type}; charset=utf-8`,
        "content-security-policy": POLICY,
      }));
  serve("/", "text/html", DASHBOARD_PAGE);
  serve("/dashboard.css", "text/css", DASHBOARD_STYLE);
  serve("/dashboard.js", "text/javascript", DASHBOARD_SCRIPT);
  return app;
}
