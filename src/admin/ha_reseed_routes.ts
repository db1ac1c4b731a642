/** POST /admin/ha/reseed: makes the log of a slave a prefix of its master's again. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { adminRoutes, PROBLEM_RESPONSE } from "./problem.ts";

const HAReseedSchema = z.object({
  /** Gives the old data up where there is no room to keep it beside the master's. */
  force: z.boolean({ error: "give true or false" }).optional(),
}).strict().openapi("HAReseed");

const HAReseededSchema = z.object({
  /** `cut`: only what lies beyond the common part went; `reseed`: the whole store. */
  action: z.enum(["reseed", "cut"]),
  reason: z.string(),
  /** Folder that `pocketmq store dump` reads; null when there was nothing, or it was given up. */
  asideDirectory: z.string().nullable(),
  /** CommitLog offsets of what was taken out. */
  minOffset: z.int(),
  maxOffset: z.int(),
}).openapi("HAReseeded");

/** What was done. */
export type HAReseeded = z.infer<typeof HAReseededSchema>;

/** What this route asks. */
export interface HAReseedAdmin {
  /** Resolves when the slave serves again. Throws ProblemError: 409 for what must not be. */
  reseed(force: boolean): Promise<HAReseeded>;
}

const reseed = createRoute({
  method: "post",
  path: "/admin/ha/reseed",
  summary: "Lets a slave follow that needs a re-seed or has diverged",
  description:
    "The broker part starts again on the same ports. What the slave had is kept in a folder beside " +
    "its log. 409 says in one sentence why nothing is done: on a master, on a slave that can " +
    "follow, and without room for both logs unless force gives the old data up.",
  request: {
    body: { content: { "application/json": { schema: HAReseedSchema } } },
  },
  responses: {
    200: {
      description: "What was taken out of the store, and where it is",
      content: { "application/json": { schema: HAReseededSchema } },
    },
    400: PROBLEM_RESPONSE,
    409: PROBLEM_RESPONSE,
    500: PROBLEM_RESPONSE,
    503: PROBLEM_RESPONSE,
  },
});

/** The routes. */
export function haReseedRoutes(admin: HAReseedAdmin): OpenAPIHono {
  const app = adminRoutes();
  app.openapi(reseed, async (c) => {
    const { force = false } = c.req.valid("json");
    return c.json(await admin.reseed(force), 200);
  });
  return app;
}
