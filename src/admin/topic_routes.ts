/** /admin/topics: the topics of this broker, and sending to one of them. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { TopicConfig } from "../model/topic_config.ts";
import { adminRoutes, notFound, ofTheSystem, ProblemError } from "./problem.ts";
import {
  listTopicRoute,
  putTopicRoute,
  removeTopicRoute,
  sendTopicRoute,
  showTopicRoute,
} from "./topic_schemas.ts";

/** Offsets of one queue. */
export interface QueueOffsets {
  readonly queueId: number;
  readonly minOffset: number;
  readonly maxOffset: number;
  /** Store time of the last message, milliseconds; null when there is none. */
  readonly lastUpdateTimestamp: number | null;
}

/** A message on its way in. */
export interface AdminMessage {
  readonly body: Uint8Array;
  readonly tag: string | undefined;
  readonly keys: readonly string[];
  readonly properties: Readonly<Record<string, string>>;
  readonly delayLevel: number;
  /** Undefined: any queue. */
  readonly queueId: number | undefined;
}

/** Where a message went. */
export interface AdminSendResult {
  readonly status: string;
  /** UNIQ_KEY. */
  readonly msgId: string;
  readonly offsetMsgId: string;
  readonly queueId: number;
  readonly queueOffset: number;
}

/** What these routes ask. Refusals are ProblemError. */
export interface TopicAdmin {
  topics(): readonly TopicConfig[];
  topic(name: string): TopicConfig | undefined;
  queues(name: string): Promise<readonly QueueOffsets[]>;
  isSystemTopic(name: string): boolean;
  /** Undefined when the name is fine, else the cure. */
  topicError(name: string): string | undefined;
  putTopic(config: TopicConfig): Promise<void>;
  deleteTopic(name: string): Promise<void>;
  send(topic: string, message: AdminMessage): Promise<AdminSendResult>;
}

/** What PUT assumes of a new topic. */
const NEW_TOPIC: Omit<TopicConfig, "topicName"> = {
  readQueueNums: 8,
  writeQueueNums: 8,
  perm: 6,
  topicFilterType: "SINGLE_TAG",
  topicSysFlag: 0,
  order: false,
  attributes: {},
};

/** The routes. */
export function topicRoutes(admin: TopicAdmin): OpenAPIHono {
  const app = adminRoutes();
  const shown = (config: TopicConfig) => ({
    ...config,
    attributes: { ...config.attributes },
    isSystem: admin.isSystemTopic(config.topicName),
  });
  const existing = (name: string): TopicConfig => {
    const config = admin.topic(name);
    if (config === undefined) throw notFound("Topic", name);
    return config;
  };
  app.openapi(listTopicRoute, (c) => {
    const topics = [...admin.topics()].sort((a, b) =>
      a.topicName < b.topicName ? -1 : 1
    );
    return c.json({ topics: topics.map(shown) }, 200);
  });
  app.openapi(showTopicRoute, async (c) => {
    const config = existing(c.req.valid("param").topic);
    const queues = [...await admin.queues(config.topicName)];
    return c.json({ ...shown(config), queues }, 200);
  });
  app.openapi(putTopicRoute, async (c) => {
    const { topic } = c.req.valid("param");
    const body = c.req.valid("json");
    checkTopicName(admin, topic, body.topicName);
    const before = admin.topic(topic) ?? NEW_TOPIC;
    await admin.putTopic({ ...before, ...defined(body), topicName: topic });
    return c.json(shown(existing(topic)), 200);
  });
  app.openapi(removeTopicRoute, async (c) => {
    const { topicName } = existing(c.req.valid("param").topic);
    if (admin.isSystemTopic(topicName)) throw ofTheSystem("Topic", topicName);
    await admin.deleteTopic(topicName);
    return c.body(null, 204);
  });
  app.openapi(sendTopicRoute, async (c) => {
    const { topic } = c.req.valid("param");
    const message = c.req.valid("json");
    const result = await admin.send(topic, {
      body: bodyBytes(message.body, message.encoding),
      tag: message.tag,
      keys: message.keys,
      properties: message.properties,
      delayLevel: message.delayLevel,
      queueId: message.queueId,
    });
    return c.json({ ...result }, 201);
  });
  return app;
}

function checkTopicName(
  admin: TopicAdmin,
  topic: string,
  inBody: string | undefined,
): void {
  if (inBody !== undefined && inBody !== topic) {
    throw new ProblemError(
      400,
      `The path names topic ${topic}: give that as topicName, or leave it out`,
      [
        { field: "topicName", message: `give ${topic} or leave it out` },
      ],
    );
  }
  const error = admin.topicError(topic);
  if (error !== undefined) {
    throw new ProblemError(400, error, [{ field: "topic", message: error }]);
  }
}

/** Without the fields that are absent: they must not overwrite. */
function defined<T extends object>(
  value: T,
): { [P in keyof T]?: Exclude<T[P], undefined> } {
  return Object.fromEntries(
    Object.entries(value).filter(([, it]) => it !== undefined),
  ) as { [P in keyof T]?: Exclude<T[P], undefined> };
}

function bodyBytes(body: string, encoding: "text" | "base64"): Uint8Array {
  if (encoding === "text") return new TextEncoder().encode(body);
  try {
    return Uint8Array.from(atob(body), (it) => it.charCodeAt(0));
  } catch {
    throw new ProblemError(
      400,
      "Field body: it is no base64; give base64, or encoding text",
      [
        { field: "body", message: "give base64, or encoding text" },
      ],
    );
  }
}
