/** /admin/ha: a superset of RocketMQ's HARuntimeInfo (907), same names. Unknown is null. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { adminRoutes, ProblemError } from "./problem.ts";

const offset = z.number().int().nullable();

const HAConnectionSchema = z.object({
  addr: z.string(),
  state: z.enum(["READY", "HANDSHAKE", "TRANSFER", "SUSPEND", "SHUTDOWN"]),
  reason: z.string().nullable(),
  inSync: z.boolean(),
  slaveRequestOffset: offset,
  transferFromWhere: offset,
  slaveAckOffset: offset,
  diff: offset,
  lagMs: offset,
  transferredByteInSecond: offset,
  inFlightBytes: offset,
  silentMs: offset,
  connectedAt: offset,
  lastAckAt: offset,
}).openapi("HAConnectionInfo");

const HAClientSchema = z.object({
  masterAddr: z.string().nullable(),
  state: z.enum(["READY", "HANDSHAKE", "TRANSFER", "SUSPEND", "SHUTDOWN"]),
  activated: z.boolean(),
  maxOffset: offset,
  masterFlushOffset: offset,
  reportedOffset: offset,
  diff: offset,
  lagMs: offset,
  transferredByteInSecond: offset,
  connectedAt: offset,
  lastReadTimestamp: offset,
  lastWriteTimestamp: offset,
  reconnects: offset,
  lastError: z.string().nullable(),
}).openapi("HAClientRuntimeInfo");

const MetadataSetSchema = z.object({
  lastSyncAt: offset,
  inSync: z.boolean().nullable(),
  dataVersion: z.object({
    stateVersion: z.number(),
    timestamp: z.number(),
    counter: z.number(),
  }).nullable(),
  error: z.string().nullable(),
}).openapi("HAMetadataSet");

/** The contract of DESIGN section 3. */
export const HAStatusSchema = z.object({
  role: z.enum(["ASYNC_MASTER", "SYNC_MASTER", "SLAVE"]),
  clusterName: z.string(),
  brokerName: z.string(),
  brokerId: z.int(),
  state: z.enum([
    "healthy",
    "catching-up",
    "degraded",
    "stalled",
    "needs-reseed",
    "diverged",
    "disconnected",
    "alone",
  ]),
  reason: z.string().nullable(),
  haAddress: z.string().nullable(),
  master: z.boolean(),
  masterCommitLogMaxOffset: offset,
  inSyncSlaveNums: z.int(),
  commitLogMinOffset: offset,
  flushedOffset: offset,
  confirmOffset: offset,
  replicatedOffset: offset,
  pendingSyncRequests: offset,
  syncMode: z.enum(["strict", "degrade", "async"]).nullable(),
  haConnectionInfo: z.array(HAConnectionSchema),
  haClientRuntimeInfo: HAClientSchema.nullable(),
  /** Where a slave asks for tables and positions. */
  metadataAddress: z.string().nullable(),
  /** Why a master serves positions without those of its slaves. */
  offsetRecoveryReason: z.string().nullable(),
  /** Why a master cannot know whether another broker was promoted meanwhile. */
  fencingReason: z.string().nullable(),
  metadata: z.object({
    topics: MetadataSetSchema,
    subscriptionGroups: MetadataSetSchema,
    consumerOffsets: MetadataSetSchema,
    delayOffsets: MetadataSetSchema,
  }).nullable(),
}).openapi("HAStatus");

/** The answer of GET /admin/ha. */
export type HAStatus = z.infer<typeof HAStatusSchema>;

/** What these routes ask. */
export interface HAAdmin {
  status(): HAStatus;
}

const status = createRoute({
  method: "get",
  path: "/admin/ha",
  summary: "Role, peers, offsets and lag",
  responses: {
    200: {
      description: "The pair as this node sees it",
      content: { "application/json": { schema: HAStatusSchema } },
    },
  },
});

/** The routes. */
export function haRoutes(admin: HAAdmin): OpenAPIHono {
  const app = adminRoutes();
  app.openapi(status, (c) => c.json(admin.status(), 200));
  for (const path of ["/admin/ha/role", "/admin/ha/reseed"]) {
    app.post(path, () => {
      throw new ProblemError(
        501,
        "This version changes roles and re-seeds by configuration and restart only: set brokerRole, or start with an empty store",
      );
    });
  }
  return app;
}
