/** /livez, /readyz, /healthz, /metrics. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { adminRoutes } from "./problem.ts";

/** One condition of readiness. */
export interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  /** One sentence when not ok; of a check that only shows something, also when ok. */
  readonly detail: string | null;
}

/** What these routes ask. */
export interface HealthAdmin {
  checks(): readonly HealthCheck[];
  /** The text of all metrics and its content type. */
  metrics(): Promise<
    {
      readonly contentType: string;
      readonly bytes: Uint8Array<ArrayBuffer>;
    }
  >;
}

const ReadySchema = z.object({
  status: z.enum(["ready", "not-ready"]),
  checks: z.array(
    z.object({
      name: z.string(),
      ok: z.boolean(),
      detail: z.string().nullable(),
    }),
  ).optional(),
}).openapi("Ready");

const READY_CONTENT = {
  content: { "application/json": { schema: ReadySchema } },
} as const;

const livez = createRoute({
  method: "get",
  path: "/livez",
  summary: "The process answers",
  responses: {
    200: {
      description: "Alive",
      content: {
        "application/json": { schema: z.object({ status: z.literal("ok") }) },
      },
    },
  },
});

const readyz = createRoute({
  method: "get",
  path: "/readyz",
  summary: "Messages are accepted; a slave: it has recovered and serves",
  request: { query: z.object({ verbose: z.string().optional() }) },
  responses: {
    200: { description: "Ready", ...READY_CONTENT },
    503: { description: "Not ready", ...READY_CONTENT },
  },
});

const metrics = createRoute({
  method: "get",
  path: "/metrics",
  summary: "Metrics in the text format of Prometheus",
  responses: {
    200: {
      description: "Metrics",
      content: { "text/plain": { schema: z.string() } },
    },
  },
});

/** The routes. */
export function healthRoutes(admin: HealthAdmin): OpenAPIHono {
  const app = adminRoutes();
  const ready = (isVerbose: boolean) => {
    const checks = admin.checks();
    const isReady = checks.every((it) => it.ok);
    return {
      status: isReady ? "ready" as const : "not-ready" as const,
      ...(isVerbose || !isReady ? { checks: [...checks] } : {}),
    };
  };
  app.openapi(livez, (c) => c.json({ status: "ok" as const }, 200));
  app.openapi(readyz, (c) => {
    const answer = ready(c.req.valid("query").verbose !== undefined);
    return answer.status === "ready"
      ? c.json(answer, 200)
      : c.json(answer, 503);
  });
  app.get("/healthz", (c) => {
    const answer = ready(false);
    return c.json(answer, answer.status === "ready" ? 200 : 503);
  });
  app.openAPIRegistry.registerPath(metrics);
  app.get(metrics.path, async (c) => {
    const { contentType, bytes } = await admin.metrics();
    return c.body(bytes, 200, { "content-type": contentType });
  });
  return app;
}
