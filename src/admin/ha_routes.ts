/** /admin/ha: a superset of RocketMQ's HARuntimeInfo (907), same names. Unknown is null. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { isHostPort } from "../model/host_port.ts";
import { adminRoutes, PROBLEM_RESPONSE } from "./problem.ts";

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
  /** Counts promotions in this pair; of a slave: the highest one known to it, its master's. */
  epoch: z.int(),
  /** End of the log when this broker was last promoted; null: it never was. */
  promotedAtOffset: offset,
  /** `haRole.json`: a change of role at run time overrides the configuration. */
  roleFrom: z.enum(["configuration", "haRole.json"]),
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
  /** The promotion or demotion that is under way in this pair, and where. */
  roleChangeReason: z.string().nullable(),
  metadata: z.object({
    topics: MetadataSetSchema,
    subscriptionGroups: MetadataSetSchema,
    consumerOffsets: MetadataSetSchema,
    delayOffsets: MetadataSetSchema,
    /** Users and policies of 5.x. */
    auth: MetadataSetSchema,
  }).nullable(),
}).openapi("HAStatus");

/** The answer of GET /admin/ha. */
export type HAStatus = z.infer<typeof HAStatusSchema>;

/** POST /admin/ha/role. */
export const HARoleChangeSchema = z.object({
  /** MASTER: promote to the role that the master had. */
  role: z.enum(["MASTER", "ASYNC_MASTER", "SYNC_MASTER", "SLAVE"], {
    error: "give MASTER, ASYNC_MASTER, SYNC_MASTER or SLAVE",
  }),
  force: z.boolean({ error: "give true or false" }).optional(),
  /** Of the new master's replication port, with SLAVE. */
  masterAddress: z.string().refine(isHostPort, { error: "give host:port" })
    .optional(),
}).strict().openapi("HARoleChange");

const HARoleChangedSchema = z.object({
  role: z.enum(["ASYNC_MASTER", "SYNC_MASTER", "SLAVE"]),
  brokerId: z.int(),
  epoch: z.int(),
  promotedAtOffset: offset,
  /** One sentence. */
  detail: z.string(),
}).openapi("HARoleChanged");

/** What an operator wants. */
export type HARoleChange = z.infer<typeof HARoleChangeSchema>;
/** What was done. */
export type HARoleChanged = z.infer<typeof HARoleChangedSchema>;

/** What these routes ask. */
export interface HAAdmin {
  status(): HAStatus;
  /** Resolves when the new role serves. Throws ProblemError 409 for what must not be. */
  changeRole(change: HARoleChange): Promise<HARoleChanged>;
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

const role = createRoute({
  method: "post",
  path: "/admin/ha/role",
  summary: "Promotes, demotes, or changes the kind of master",
  description:
    "Between SLAVE and a master the broker part starts again on the same ports. 409 says in one " +
    "sentence why the change would lose something; force overrides that.",
  request: {
    body: {
      content: { "application/json": { schema: HARoleChangeSchema } },
      required: true,
    },
  },
  responses: {
    200: {
      description: "The role in force",
      content: { "application/json": { schema: HARoleChangedSchema } },
    },
    400: PROBLEM_RESPONSE,
    409: PROBLEM_RESPONSE,
    503: PROBLEM_RESPONSE,
  },
});

/** The routes. */
export function haRoutes(admin: HAAdmin): OpenAPIHono {
  const app = adminRoutes();
  app.openapi(status, (c) => c.json(admin.status(), 200));
  app.openapi(
    role,
    async (c) => c.json(await admin.changeRole(c.req.valid("json")), 200),
  );
  return app;
}
