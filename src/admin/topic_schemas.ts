/** Schemas of /admin/topics: the door, and the OpenAPI document. */
import { createRoute, z } from "@hono/zod-openapi";
import { isPropertyText } from "../model/message_properties.ts";
import { PROBLEM_RESPONSE } from "./problem.ts";

const QUEUES_MAX = 65_535;

const TopicSchema = z.object({
  topicName: z.string(),
  readQueueNums: z.int(),
  writeQueueNums: z.int(),
  perm: z.int(),
  topicFilterType: z.enum(["SINGLE_TAG", "MULTI_TAG"]),
  topicSysFlag: z.int(),
  order: z.boolean(),
  attributes: z.record(z.string(), z.string()),
  isSystem: z.boolean(),
}).openapi("Topic");

const TopicDetailSchema = TopicSchema.extend({
  queues: z.array(
    z.object({
      queueId: z.int(),
      minOffset: z.int(),
      maxOffset: z.int(),
      lastUpdateTimestamp: z.int().nullable(),
    }),
  ),
}).openapi("TopicDetail");

const PutTopicSchema = z.strictObject({
  topicName: z.string().optional(),
  readQueueNums: z.int().min(1).max(QUEUES_MAX).optional(),
  writeQueueNums: z.int().min(1).max(QUEUES_MAX).optional(),
  perm: z.int().min(0).max(7).optional(),
  topicFilterType: z.enum(["SINGLE_TAG", "MULTI_TAG"]).optional(),
  topicSysFlag: z.int().min(0).optional(),
  order: z.boolean().optional(),
  attributes: z.record(z.string(), z.string()).optional(),
}).openapi("PutTopic");

const PropertyText = z.string().refine(isPropertyText, {
  error: "give a text without the control characters 1 and 2",
});

const SendSchema = z.strictObject({
  body: z.string(),
  encoding: z.enum(["text", "base64"]).default("text"),
  tag: PropertyText.min(1).optional(),
  keys: z.array(PropertyText.regex(/^\S+$/, "give a key without spaces"))
    .default([]),
  properties: z.record(PropertyText.min(1), PropertyText).default({}),
  delayLevel: z.int().min(0).max(18).default(0),
  queueId: z.int().min(0).optional(),
}).openapi("SendMessage");

const SendResultSchema = z.object({
  status: z.string(),
  /** UNIQ_KEY, as clients know it. */
  msgId: z.string(),
  /** Where the record lies. */
  offsetMsgId: z.string(),
  queueId: z.int(),
  queueOffset: z.int(),
}).openapi("SendResult");

const params = z.object({ topic: z.string().min(1).max(255) });

/** GET /admin/topics */
export const listTopicRoute = createRoute({
  method: "get",
  path: "/admin/topics",
  summary: "All topics",
  responses: {
    200: {
      description: "Topics in the order of their names",
      content: {
        "application/json": {
          schema: z.object({ topics: z.array(TopicSchema) }),
        },
      },
    },
  },
});

/** GET /admin/topics/:topic */
export const showTopicRoute = createRoute({
  method: "get",
  path: "/admin/topics/{topic}",
  summary: "One topic with the offsets of its queues",
  request: { params },
  responses: {
    200: {
      description: "The topic",
      content: { "application/json": { schema: TopicDetailSchema } },
    },
    404: PROBLEM_RESPONSE,
  },
});

/** PUT /admin/topics/:topic */
export const putTopicRoute = createRoute({
  method: "put",
  path: "/admin/topics/{topic}",
  summary: "Creates a topic or changes it; what is left out stays",
  request: {
    params,
    body: {
      content: { "application/json": { schema: PutTopicSchema } },
      required: true,
    },
  },
  responses: {
    200: {
      description: "The topic as it is now",
      content: { "application/json": { schema: TopicSchema } },
    },
    400: PROBLEM_RESPONSE,
  },
});

/** DELETE /admin/topics/:topic */
export const removeTopicRoute = createRoute({
  method: "delete",
  path: "/admin/topics/{topic}",
  summary: "Deletes a topic and its messages",
  request: { params },
  responses: {
    204: { description: "Deleted" },
    400: PROBLEM_RESPONSE,
    404: PROBLEM_RESPONSE,
  },
});

/** POST /admin/topics/:topic/messages */
export const sendTopicRoute = createRoute({
  method: "post",
  path: "/admin/topics/{topic}/messages",
  summary: "Sends one message",
  request: {
    params,
    body: {
      content: { "application/json": { schema: SendSchema } },
      required: true,
    },
  },
  responses: {
    201: {
      description: "Stored",
      content: { "application/json": { schema: SendResultSchema } },
    },
    400: PROBLEM_RESPONSE,
  },
});
