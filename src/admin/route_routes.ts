/** /admin/routes: what the name server inside this process tells clients. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { adminRoutes, PROBLEM_RESPONSE, ProblemError } from "./problem.ts";

const RoutesSchema = z.object({
  brokers: z.array(
    z.object({
      clusterName: z.string(),
      brokerName: z.string(),
      addresses: z.record(z.string(), z.string()),
    }),
  ),
  topics: z.array(z.string()),
}).openapi("Routes");

/** The answer of GET /admin/routes. */
export type RoutesView = z.infer<typeof RoutesSchema>;

/** What these routes ask. */
export interface RouteAdmin {
  /** Undefined when no name server runs in this process. */
  routes(): RoutesView | undefined;
}

const show = createRoute({
  method: "get",
  path: "/admin/routes",
  summary: "Brokers and topics that the name server here knows",
  responses: {
    200: {
      description: "Routes",
      content: { "application/json": { schema: RoutesSchema } },
    },
    404: PROBLEM_RESPONSE,
  },
});

/** The routes. */
export function routeRoutes(admin: RouteAdmin): OpenAPIHono {
  const app = adminRoutes();
  app.openapi(show, (c) => {
    const routes = admin.routes();
    if (routes === undefined) {
      throw new ProblemError(
        404,
        "No name server runs in this process; ask one with `pocketmq cluster list`",
      );
    }
    return c.json(routes, 200);
  });
  return app;
}
