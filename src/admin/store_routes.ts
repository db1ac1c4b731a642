/** /admin/store: offsets, sizes and the disk. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { adminRoutes } from "./problem.ts";

const StoreSchema = z.object({
  storePathRootDir: z.string(),
  isWritable: z.boolean(),
  unwritableReason: z.string().nullable(),
  commitLogMinOffset: z.int(),
  commitLogMaxOffset: z.int(),
  flushedOffset: z.int(),
  confirmOffset: z.int(),
  flushBehindBytes: z.int(),
  dispatchBehindBytes: z.int(),
  mappedFileSizeCommitLog: z.int(),
  mappedFileSizeConsumeQueue: z.int(),
  flushDiskType: z.string(),
  messageVisibleAfter: z.string(),
  earliestMessageTimestamp: z.int().nullable(),
  putMessageTimesTotal: z.int(),
  putMessageSizeTotal: z.int(),
  /** What re-seeds and cuts have kept; nobody but the operator removes it. */
  asideFolders: z.array(z.object({
    path: z.string(),
    kind: z.enum(["reseed", "cut"]),
    reason: z.string(),
    at: z.string(),
    minOffset: z.int(),
    maxOffset: z.int(),
  })),
  /** Timer messages; null on a slave, and with timerWheelEnable=false. Totals since the start. */
  timers: z.object({
    pending: z.int(),
    unread: z.int(),
    nextDueTimestamp: z.int().nullable(),
    enqueuedTotal: z.int(),
    deliveredTotal: z.int(),
    /** Milliseconds between due and delivered, of the last message. */
    lastLatenessMs: z.int(),
    /** Deleted with their files before they were due. */
    lost: z.int(),
  }).nullable(),
  disk: z.object({
    totalBytes: z.int(),
    freeBytes: z.int(),
    usedRatio: z.number(),
  }).nullable(),
}).openapi("Store");

/** The answer of GET /admin/store. */
export type StoreView = z.infer<typeof StoreSchema>;

/** What these routes ask. */
export interface StoreAdmin {
  store(): Promise<StoreView>;
}

const show = createRoute({
  method: "get",
  path: "/admin/store",
  summary: "Offsets, sizes and the disk",
  responses: {
    200: {
      description: "The store",
      content: { "application/json": { schema: StoreSchema } },
    },
  },
});

/** The routes. */
export function storeRoutes(admin: StoreAdmin): OpenAPIHono {
  const app = adminRoutes();
  app.openapi(show, async (c) => c.json(await admin.store(), 200));
  return app;
}
