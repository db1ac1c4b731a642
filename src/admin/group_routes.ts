/** /admin/groups: consumer groups, their members, and how far behind they are. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { SubscriptionGroupConfig } from "../model/subscription_group_config.ts";
import {
  cloneGroupRoute,
  lagGroupRoute,
  listGroupRoute,
  putGroupRoute,
  removeGroupRoute,
  resetGroupRoute,
  showGroupRoute,
} from "./group_schemas.ts";
import { adminRoutes, notFound, ofTheSystem, ProblemError } from "./problem.ts";

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
  /** Messages that were popped and not acknowledged: `lag` does not count them. */
  readonly popInflight: number;
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
  /** Only the broker's own; nobody may delete them. */
  isSystemGroup(name: string): boolean;
  hasTopic(name: string): boolean;
  /** Gives the topic's queues as they are then. */
  resetOffset(group: string, place: ResetPlace): Promise<readonly QueueLag[]>;
  /** Copies the offsets of a topic, or of all; gives the group's queues as they are then. */
  cloneOffset(
    group: string,
    source: string,
    topic: string | undefined,
  ): Promise<readonly QueueLag[]>;
}

/** Where a group goes on. */
export interface ResetPlace {
  readonly topic: string;
  /** Milliseconds; -1 is the end. Not looked at where there is an offset. */
  readonly timestampMs: number;
  /** Undefined: all queues. */
  readonly queueId: number | undefined;
  readonly offset: number | undefined;
}

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
  app.openapi(listGroupRoute, (c) => {
    const groups = [...admin.groups()].sort((a, b) =>
      a.groupName < b.groupName ? -1 : 1
    );
    return c.json({ groups: groups.map(shown) }, 200);
  });
  app.openapi(showGroupRoute, (c) => {
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
  app.openapi(lagGroupRoute, (c) => {
    const { group } = c.req.valid("param");
    const queues = admin.lag(group);
    if (queues.length === 0) existing(group);
    return c.json(lagJson(group, queues), 200);
  });
  app.openapi(putGroupRoute, async (c) => {
    const { group } = c.req.valid("param");
    const { groupName, ...changes } = c.req.valid("json");
    checkGroupName(admin, group, groupName);
    const before = admin.group(group) ?? admin.newGroup(group);
    const given = Object.entries(changes).filter(([, it]) => it !== undefined);
    await admin.putGroup({ ...before, ...Object.fromEntries(given) });
    return c.json(shown(existing(group)), 200);
  });
  app.openapi(removeGroupRoute, async (c) => {
    const { groupName } = existing(c.req.valid("param").group);
    if (admin.isSystemGroup(groupName)) throw ofTheSystem("Group", groupName);
    await admin.deleteGroup(groupName);
    return c.body(null, 204);
  });
  offsetRoutes(app, admin, existing);
  return app;
}

function offsetRoutes(
  app: OpenAPIHono,
  admin: GroupAdmin,
  existing: (name: string) => SubscriptionGroupConfig,
): void {
  app.openapi(resetGroupRoute, async (c) => {
    const { group } = c.req.valid("param");
    const { topic, timestamp, queueId, offset } = c.req.valid("json");
    existing(group);
    if (!admin.hasTopic(topic)) throw notFound("Topic", topic);
    const queues = await admin.resetOffset(group, {
      topic,
      timestampMs: timestamp ?? -1,
      queueId,
      offset,
    });
    return c.json(lagJson(group, queues), 200);
  });
  app.openapi(cloneGroupRoute, async (c) => {
    const { group } = c.req.valid("param");
    const { source, topic } = c.req.valid("json");
    existing(group);
    checkSource(admin, group, source, topic);
    const queues = await admin.cloneOffset(group, source, topic);
    return c.json(lagJson(group, queues), 200);
  });
}

/** There must be offsets to copy. */
function checkSource(
  admin: GroupAdmin,
  group: string,
  source: string,
  topic: string | undefined,
): void {
  const refuse = (status: 400 | 404, sentence: string, message: string) => {
    throw new ProblemError(status, sentence, [{ field: "source", message }]);
  };
  if (source === group) {
    refuse(400, `Group ${group} has its own offsets`, "name another group");
  }
  const isAny = admin.lag(source).some((it) =>
    it.consumerOffset !== null && (topic === undefined || it.topic === topic)
  );
  if (isAny) return;
  const where = topic === undefined ? "any topic" : `topic ${topic}`;
  refuse(
    404,
    `Group ${source} has no offset in ${where}`,
    "name a group that has consumed",
  );
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
  // Of a group that never committed anything nobody knows what it lacks.
  let totalLag: number | null = queues.length === 0 ? null : 0;
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
    throw new ProblemError(
      400,
      `The path names group ${group}: give that as groupName, or leave it out`,
      [
        { field: "groupName", message: `give ${group} or leave it out` },
      ],
    );
  }
  const error = admin.groupError(group);
  if (error !== undefined) {
    throw new ProblemError(400, error, [{ field: "group", message: error }]);
  }
}
