/** Schemas of /admin/groups: the door, and the OpenAPI document. */
import { createRoute, z } from "@hono/zod-openapi";
import { PROBLEM_RESPONSE } from "./problem.ts";

const GroupSchema = z.object({
  groupName: z.string(),
  consumeEnable: z.boolean(),
  consumeFromMinEnable: z.boolean(),
  consumeBroadcastEnable: z.boolean(),
  consumeMessageOrderly: z.boolean(),
  retryQueueNums: z.int(),
  retryMaxTimes: z.int(),
  brokerId: z.int(),
  whichBrokerWhenConsumeSlowly: z.int(),
  notifyConsumerIdsChangedEnable: z.boolean(),
  consumeTimeoutMinute: z.int(),
  attributes: z.record(z.string(), z.string()),
  memberCount: z.int(),
}).openapi("Group");

const ConnectionSchema = z.object({
  consumeType: z.string(),
  messageModel: z.string(),
  consumeFromWhere: z.string(),
  members: z.array(
    z.object({
      clientId: z.string(),
      address: z.string(),
      language: z.string(),
      version: z.int(),
      lastUpdateTimestamp: z.int(),
    }),
  ),
  subscriptions: z.array(
    z.object({
      topic: z.string(),
      expressionType: z.string(),
      expression: z.string(),
    }),
  ),
});

const GroupDetailSchema = GroupSchema.extend({
  connection: ConnectionSchema.nullable(),
}).openapi("GroupDetail");

const LagSchema = z.object({
  group: z.string(),
  totalLag: z.int().nullable(),
  queues: z.array(
    z.object({
      topic: z.string(),
      queueId: z.int(),
      brokerOffset: z.int(),
      consumerOffset: z.int().nullable(),
      lag: z.int().nullable(),
      popInflight: z.int(),
    }),
  ),
}).openapi("GroupLag");

const PutGroupSchema = z.strictObject({
  groupName: z.string().optional(),
  consumeEnable: z.boolean().optional(),
  consumeFromMinEnable: z.boolean().optional(),
  consumeBroadcastEnable: z.boolean().optional(),
  consumeMessageOrderly: z.boolean().optional(),
  retryQueueNums: z.int().min(0).max(65_535).optional(),
  retryMaxTimes: z.int().min(-1).max(100_000).optional(),
  whichBrokerWhenConsumeSlowly: z.int().min(0).optional(),
  notifyConsumerIdsChangedEnable: z.boolean().optional(),
  consumeTimeoutMinute: z.int().min(1).optional(),
  attributes: z.record(z.string(), z.string()).optional(),
}).openapi("PutGroup");

const ResetSchema = z.strictObject({
  topic: z.string().min(1),
  /** Milliseconds; -1 is the end. */
  timestamp: z.int().min(-1).optional(),
  queueId: z.int().min(0).optional(),
  offset: z.int().min(0).optional(),
}).refine((it) => (it.timestamp === undefined) !== (it.offset === undefined), {
  path: ["timestamp"],
  error: "give timestamp, or queueId and offset",
}).refine((it) => it.offset === undefined || it.queueId !== undefined, {
  path: ["queueId"],
  error: "missing; an offset is one of a queue",
}).openapi("ResetOffset");

const CloneSchema = z.strictObject({
  source: z.string().min(1),
  topic: z.string().min(1).optional(),
}).openapi("CloneOffset");

const params = z.object({ group: z.string().min(1).max(255) });
const inParams = { params } as const;

function jsonOf<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** GET /admin/groups */
export const listGroupRoute = createRoute({
  method: "get",
  path: "/admin/groups",
  summary: "All consumer groups",
  responses: {
    200: jsonOf(z.object({ groups: z.array(GroupSchema) }), "Groups by name"),
  },
});

/** GET /admin/groups/:group */
export const showGroupRoute = createRoute({
  method: "get",
  path: "/admin/groups/{group}",
  summary: "One group with its living members",
  request: inParams,
  responses: {
    200: jsonOf(GroupDetailSchema, "The group"),
    404: PROBLEM_RESPONSE,
  },
});

/** GET /admin/groups/:group/lag */
export const lagGroupRoute = createRoute({
  method: "get",
  path: "/admin/groups/{group}/lag",
  summary: "How far behind a group is, queue by queue",
  request: inParams,
  responses: { 200: jsonOf(LagSchema, "Lag"), 404: PROBLEM_RESPONSE },
});

/** PUT /admin/groups/:group */
export const putGroupRoute = createRoute({
  method: "put",
  path: "/admin/groups/{group}",
  summary: "Creates a group or changes it; what is left out stays",
  request: {
    ...inParams,
    body: {
      content: { "application/json": { schema: PutGroupSchema } },
      required: true,
    },
  },
  responses: {
    200: jsonOf(GroupSchema, "The group as it is now"),
    400: PROBLEM_RESPONSE,
  },
});

/** DELETE /admin/groups/:group */
export const removeGroupRoute = createRoute({
  method: "delete",
  path: "/admin/groups/{group}",
  summary: "Deletes a group and its offsets",
  request: inParams,
  responses: {
    204: { description: "Deleted" },
    400: PROBLEM_RESPONSE,
    404: PROBLEM_RESPONSE,
  },
});

/** POST /admin/groups/:group/reset-offset */
export const resetGroupRoute = createRoute({
  method: "post",
  path: "/admin/groups/{group}/reset-offset",
  summary:
    "Sets the offsets of a topic to a time (-1 is the end), or one queue's to an offset; living members go on from there",
  request: {
    ...inParams,
    body: {
      content: { "application/json": { schema: ResetSchema } },
      required: true,
    },
  },
  responses: {
    200: jsonOf(LagSchema, "Lag from the new offsets on"),
    400: PROBLEM_RESPONSE,
    404: PROBLEM_RESPONSE,
    409: PROBLEM_RESPONSE,
  },
});

/** POST /admin/groups/:group/clone-offset */
export const cloneGroupRoute = createRoute({
  method: "post",
  path: "/admin/groups/{group}/clone-offset",
  summary: "Copies another group's offsets, of one topic or of all",
  request: {
    ...inParams,
    body: {
      content: { "application/json": { schema: CloneSchema } },
      required: true,
    },
  },
  responses: {
    200: jsonOf(LagSchema, "Lag from the new offsets on"),
    400: PROBLEM_RESPONSE,
    404: PROBLEM_RESPONSE,
    409: PROBLEM_RESPONSE,
  },
});
