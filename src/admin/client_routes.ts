/** /admin/clients: producers and consumers that are connected. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { adminRoutes } from "./problem.ts";

/** One client in one group. */
export interface ClientView {
  readonly kind: "producer" | "consumer";
  readonly group: string;
  readonly clientId: string;
  readonly address: string;
  readonly language: string;
  readonly version: number;
  readonly lastUpdateTimestamp: number;
}

/** What these routes ask. */
export interface ClientAdmin {
  clients(): readonly ClientView[];
  connectionCount(): number;
}

const ClientSchema = z.object({
  kind: z.enum(["producer", "consumer"]),
  group: z.string(),
  clientId: z.string(),
  address: z.string(),
  language: z.string(),
  version: z.int(),
  lastUpdateTimestamp: z.int(),
}).openapi("Client");

const list = createRoute({
  method: "get",
  path: "/admin/clients",
  summary: "Producers and consumers that are connected",
  responses: {
    200: {
      description: "Clients",
      content: {
        "application/json": {
          schema: z.object({
            connectionCount: z.int(),
            clients: z.array(ClientSchema),
          }),
        },
      },
    },
  },
});

/** The routes. */
export function clientRoutes(admin: ClientAdmin): OpenAPIHono {
  const app = adminRoutes();
  app.openapi(list, (c) =>
    c.json({
      connectionCount: admin.connectionCount(),
      clients: [...admin.clients()],
    }, 200));
  return app;
}
