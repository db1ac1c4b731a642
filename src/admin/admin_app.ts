/** adminApp: the HTTP face. `app.fetch` is served by the runtime, `app.request` by tests. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { bodyLimit } from "hono/body-limit";
import { accessRules, type AdminAccess } from "./admin_access.ts";
import type { AdminFacade } from "./admin_facade.ts";
import { clientRoutes } from "./client_routes.ts";
import { configRoutes } from "./config_routes.ts";
import { dashboardRoutes } from "./dashboard_routes.ts";
import { groupRoutes } from "./group_routes.ts";
import { haReseedRoutes } from "./ha_reseed_routes.ts";
import { haRoutes } from "./ha_routes.ts";
import { healthRoutes } from "./health_routes.ts";
import { messageRoutes } from "./message_routes.ts";
import { type FailureListener, onErrorOf, problem } from "./problem.ts";
import { routeRoutes } from "./route_routes.ts";
import { storeRoutes } from "./store_routes.ts";
import { topicRoutes } from "./topic_routes.ts";

/** Limits and rules of the app. */
export interface AdminAppOptions {
  readonly version: string;
  readonly access: AdminAccess;
  /** Bytes of one request body. */
  readonly bodySizeMax: number;
  readonly onFailure: FailureListener;
}

/** Builds the app over a facade. */
export function adminApp(
  facade: AdminFacade,
  options: AdminAppOptions,
): OpenAPIHono {
  const app = new OpenAPIHono();
  app.onError(onErrorOf(options.onFailure));
  app.notFound((c) =>
    problem(
      c,
      404,
      `There is no ${c.req.method} ${c.req.path}: see /openapi.json`,
    )
  );
  app.use("*", async (c, next) => {
    await next();
    c.header("x-content-type-options", "nosniff");
    c.header("x-frame-options", "DENY");
    c.header("cache-control", "no-store");
  });
  app.use("*", accessRules(() => options.access));
  app.use(
    "*",
    bodyLimit({
      maxSize: options.bodySizeMax,
      onError: (c) =>
        problem(c, 413, `A body may have ${options.bodySizeMax} bytes`, [
          {
            field: "body",
            message: `give ${options.bodySizeMax} bytes or less`,
          },
        ]),
    }),
  );
  app.use("*", async (c, next) => {
    const text = c.req.method === "GET" ? "" : await c.req.text();
    if (!hasProtoKey(text)) return await next();
    return problem(c, 400, "Field __proto__: there is no such field", [
      { field: "__proto__", message: "leave it out" },
    ]);
  });
  app.route("/", healthRoutes(facade.health));
  app.route("/", dashboardRoutes());
  app.route("/", haRoutes(facade.ha));
  app.route("/", haReseedRoutes(facade.haReseed));
  app.route("/", topicRoutes(facade.topics));
  app.route("/", groupRoutes(facade.groups));
  app.route("/", messageRoutes(facade.messages));
  app.route("/", clientRoutes(facade.clients));
  app.route("/", configRoutes(facade.config));
  app.route("/", storeRoutes(facade.store));
  app.route("/", routeRoutes(facade.routes));
  app.doc31("/openapi.json", {
    openapi: "3.1.0",
    info: { title: "PocketMQ", version: options.version },
  });
  return app;
}

/** Readers of JSON drop that key without a word, and what was sent with it. */
function hasProtoKey(text: string): boolean {
  if (!/__proto__|\\u00/.test(text)) return false;
  let isFound = false;
  try {
    JSON.parse(text, (key, value) => {
      isFound ||= key === "__proto__";
      return value;
    });
  } catch {
    // No JSON: whoever reads it says so.
  }
  return isFound;
}
