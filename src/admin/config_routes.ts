/** /admin/config: effective values with their origin; PATCH changes what may change. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { adminRoutes, PROBLEM_RESPONSE } from "./problem.ts";

/** One key. */
export interface ConfigEntryView {
  readonly key: string;
  readonly value: string;
  readonly origin: string;
  readonly unit: string | null;
  readonly isLive: boolean;
  readonly doc: string;
}

/** What a change did. */
export interface ConfigChangeView {
  readonly changed: readonly string[];
  readonly afterRestart: readonly string[];
  readonly isPersisted: boolean;
}

/** What these routes ask. Refusals are ProblemError naming the key. */
export interface ConfigAdmin {
  entries(): readonly ConfigEntryView[];
  update(changes: ReadonlyMap<string, string>): Promise<ConfigChangeView>;
}

const list = createRoute({
  method: "get",
  path: "/admin/config",
  summary: "Every key with its value, origin and meaning",
  responses: {
    200: {
      description: "Keys in the order of their rooms",
      content: {
        "application/json": {
          schema: z.object({
            entries: z.array(
              z.object({
                key: z.string(),
                value: z.string(),
                origin: z.string(),
                unit: z.string().nullable(),
                isLive: z.boolean(),
                doc: z.string(),
              }).openapi("ConfigEntry"),
            ),
          }),
        },
      },
    },
  },
});

const patch = createRoute({
  method: "patch",
  path: "/admin/config",
  summary: "Changes keys; all of them or none",
  request: {
    body: {
      content: {
        "application/json": {
          schema: z.record(
            z.string(),
            z.union([z.string(), z.number(), z.boolean()], {
              error: "give a text, a number, true or false",
            }),
          ),
        },
      },
      required: true,
    },
  },
  responses: {
    200: {
      description: "What holds now, and what holds after a restart",
      content: {
        "application/json": {
          schema: z.object({
            changed: z.array(z.string()),
            afterRestart: z.array(z.string()),
            isPersisted: z.boolean(),
          }),
        },
      },
    },
    400: PROBLEM_RESPONSE,
    403: PROBLEM_RESPONSE,
    409: PROBLEM_RESPONSE,
  },
});

/** The routes. */
export function configRoutes(admin: ConfigAdmin): OpenAPIHono {
  const app = adminRoutes();
  app.openapi(list, (c) => c.json({ entries: [...admin.entries()] }, 200));
  app.openapi(patch, async (c) => {
    const changes = new Map<string, string>();
    for (const [key, value] of Object.entries(c.req.valid("json"))) {
      changes.set(key, String(value));
    }
    const { changed, afterRestart, isPersisted } = await admin.update(changes);
    return c.json({
      changed: [...changed],
      afterRestart: [...afterRestart],
      isPersisted,
    }, 200);
  });
  return app;
}
