/** /admin/groups: consumer groups, their members, and how far behind they are. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { SubscriptionGroupConfig } from "../model/subscription_group_config.ts";
import {
  adminRoutes,
  notFound,
  PROBLEM_RESPONSE,
  ProblemError,
} from "./problem.ts";

/** One living member of a group. */
export interface GroupMember {
  readonly clientId: string;
  readonly address: string;
  readonly language: string;
  readonly version: number;
  readonly lastUpdateTimestamp: number;
}

/** What heartbeats say of a group. */
export interface GroupConnection {
  readonly consumeType: string;
  readonly messageModel: string;
  readonly consumeFromWhere: string;
  readonly members: readonly GroupMember[];
  readonly subscriptions: readonly {
    readonly topic: string;
    readonly expressionType: string;
    readonly expression: string;
  }[];
}

/** How far a group is in one queue. */
export interface QueueLag {
  readonly topic: string;
  readonly queueId: number;
  readonly brokerOffset: number;
  /** Null when the group never committed here. */
  readonly consumerOffset: number | null;
  /** Messages; null when unknown. */
  readonly lag: number | null;
}

/** What these routes ask. Refusals are ProblemError. */
export interface GroupAdmin {
  groups(): readonly SubscriptionGroupConfig[];
  group(name: string): SubscriptionGroupConfig | undefined;
  /** Undefined when no member is connected. */
  connection(name: string): GroupConnection | undefined;
  lag(name: string): readonly QueueLag[];
  /** Undefined when the name is fine, else the cure. */
  groupError(name: string): string | undefined;
  /** A group with RocketMQ's defaults. */
  newGroup(name: string): SubscriptionGroupConfig;
  putGroup(config: SubscriptionGroupConfig): Promise<void>;
  /** Offsets go with it. */
  deleteGroup(name: string): Promise<void>;
  /** Undefined in a version that cannot. */
  readonly resetOffset?: (
    group: string,
    topic: string,
    timestampMs: number,
  ) => Promise<readonly QueueLag[]>;
}

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
  timestamp: z.int(),
}).openapi("ResetOffset");

const params = z.object({ group: z.string().min(1).max(255) });
const inParams = { params } as const;

function jsonOf<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { "application/json": { schema } } };
}

const list = createRoute({
  method: "get",
  path: "/admin/groups",
  summary: "All consumer groups",
  responses: {
    200: jsonOf(z.object({ groups: z.array(GroupSchema) }), "Groups by name"),
  },
});

const show = createRoute({
  method: "get",
  path: "/admin/groups/{group}",
  summary: "One group with its living members",
  request: inParams,
  responses: {
    200: jsonOf(GroupDetailSchema, "The group"),
    404: PROBLEM_RESPONSE,
  },
});

const lag = createRoute({
  method: "get",
  path: "/admin/groups/{group}/lag",
  summary: "How far behind a group is, queue by queue",
  request: inParams,
  responses: { 200: jsonOf(LagSchema, "Lag"), 404: PROBLEM_RESPONSE },
});

const put = createRoute({
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

const remove = createRoute({
  method: "delete",
  path: "/admin/groups/{group}",
  summary: "Deletes a group and its offsets",
  request: inParams,
  responses: { 204: { description: "Deleted" }, 404: PROBLEM_RESPONSE },
});

const reset = createRoute({
  method: "post",
  path: "/admin/groups/{group}/reset-offset",
  summary: "Sets the offsets of a topic to a time",
  request: {
    ...inParams,
    body: {
      content: { "application/json": { schema: ResetSchema } },
      required: true,
    },
  },
  responses: {
    200: jsonOf(LagSchema, "The new offsets"),
    501: PROBLEM_RESPONSE,
  },
});

/** The routes. */
export function groupRoutes(admin: GroupAdmin): OpenAPIHono {
  const app = adminRoutes();
  const existing = (name: string): SubscriptionGroupConfig => {
    const config = admin.group(name);
    if (config === undefined) throw notFound("Group", name);
    return config;
  };
  const shown = (config: SubscriptionGroupConfig) =>
    groupJson(config, admin.connection(config.groupName));
  app.openapi(list, (c) => {
    const groups = [...admin.groups()].sort((a, b) =>
      a.groupName < b.groupName ? -1 : 1
    );
    return c.json({ groups: groups.map(shown) }, 200);
  });
  app.openapi(show, (c) => {
    const config = existing(c.req.valid("param").group);
    const connection = admin.connection(config.groupName);
    return c.json({
      ...shown(config),
      connection: connection === undefined ? null : {
        ...connection,
        members: [...connection.members],
        subscriptions: [...connection.subscriptions],
      },
    }, 200);
  });
  app.openapi(lag, (c) => {
    const { group } = c.req.valid("param");
    const queues = admin.lag(group);
    if (queues.length === 0) existing(group);
    return c.json(lagJson(group, queues), 200);
  });
  app.openapi(put, async (c) => {
    const { group } = c.req.valid("param");
    const { groupName, ...changes } = c.req.valid("json");
    checkGroupName(admin, group, groupName);
    const before = admin.group(group) ?? admin.newGroup(group);
    const given = Object.entries(changes).filter(([, it]) => it !== undefined);
    await admin.putGroup({ ...before, ...Object.fromEntries(given) });
    return c.json(shown(existing(group)), 200);
  });
  app.openapi(remove, async (c) => {
    await admin.deleteGroup(existing(c.req.valid("param").group).groupName);
    return c.body(null, 204);
  });
  app.openapi(reset, async (c) => {
    const { group } = c.req.valid("param");
    const { topic, timestamp } = c.req.valid("json");
    if (admin.resetOffset === undefined) {
      throw new ProblemError(
        501,
        "This version cannot reset offsets over HTTP; use `mqadmin resetOffsetByTime`",
      );
    }
    const queues = await admin.resetOffset(group, topic, timestamp);
    return c.json(lagJson(group, queues), 200);
  });
  return app;
}

function groupJson(
  config: SubscriptionGroupConfig,
  connection: GroupConnection | undefined,
) {
  const { groupRetryPolicy: _, otherKeys: __, groupSysFlag: ___, ...rest } =
    config;
  return {
    ...rest,
    attributes: { ...config.attributes },
    memberCount: connection?.members.length ?? 0,
  };
}

function lagJson(group: string, queues: readonly QueueLag[]) {
  let totalLag: number | null = 0;
  for (const queue of queues) {
    totalLag = totalLag === null || queue.lag === null
      ? null
      : totalLag + queue.lag;
  }
  return { group, totalLag, queues: [...queues] };
}

function checkGroupName(
  admin: GroupAdmin,
  group: string,
  inBody: string | undefined,
): void {
  if (inBody !== undefined && inBody !== group) {
    throw new ProblemError(400, `The path names group ${group}`, [
      { field: "groupName", message: `give ${group} or leave it out` },
    ]);
  }
  const error = admin.groupError(group);
  if (error !== undefined) {
    throw new ProblemError(400, error, [{ field: "group", message: error }]);
  }
}
