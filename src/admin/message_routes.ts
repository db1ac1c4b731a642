/** /admin/messages: messages by id, by key, or by queue offset. */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { wholeNumber } from "./issue_fields.ts";
import {
  adminRoutes,
  notFound,
  PROBLEM_RESPONSE,
  ProblemError,
} from "./problem.ts";

/** A stored message as it is shown. */
export interface MessageView {
  /** The id by which clients know it: UNIQ_KEY, else the offset id. */
  readonly msgId: string;
  readonly offsetMsgId: string;
  readonly topic: string;
  readonly queueId: number;
  readonly queueOffset: number;
  readonly commitLogOffset: number;
  /** Bytes of the record. */
  readonly storeSize: number;
  readonly bornTimestamp: number;
  readonly bornHost: string;
  readonly storeTimestamp: number;
  readonly storeHost: string;
  readonly reconsumeTimes: number;
  readonly sysFlag: number;
  readonly properties: Readonly<Record<string, string>>;
  /** What `body` still is packed with, as it is broken or too large; else null. */
  readonly compression: string | null;
  readonly bodySize: number;
  /** As it was sent, where that can be told; its first bytes at least. */
  readonly body: Uint8Array;
}

/** What these routes ask. Refusals are ProblemError. */
export interface MessageAdmin {
  /** Queues of a topic; undefined when there is no such topic. */
  queueNums(topic: string): number | undefined;
  /** By offset id, or by unique key within a topic; 404 when there is none. */
  byId(msgId: string, topic: string | undefined): Promise<MessageView[]>;
  byKey(
    topic: string,
    key: string,
    max: number,
    beginMs: number,
    endMs: number,
  ): Promise<MessageView[]>;
  byOffset(
    topic: string,
    queueId: number,
    offset: number,
    max: number,
  ): Promise<MessageView[]>;
}

const MESSAGES_MAX = 64;
/** Bytes of a body that are shown. */
export const BODY_SHOWN_MAX = 64 * 1024;

const MessageSchema = z.object({
  msgId: z.string(),
  offsetMsgId: z.string(),
  topic: z.string(),
  queueId: z.int(),
  queueOffset: z.int(),
  commitLogOffset: z.int(),
  storeSize: z.int(),
  bornTimestamp: z.int(),
  bornHost: z.string(),
  storeTimestamp: z.int(),
  storeHost: z.string(),
  reconsumeTimes: z.int(),
  sysFlag: z.int(),
  properties: z.record(z.string(), z.string()),
  compression: z.string().nullable().openapi({
    description:
      "What the body still is packed with (ZLIB, LZ4, ZSTD), as it is broken or takes more than 4 MiB; null: it is as it was sent",
  }),
  bodySize: z.int(),
  isBodyCut: z.boolean(),
  encoding: z.enum(["text", "base64"]),
  body: z.string(),
}).openapi("Message");

const query = z.object({
  topic: z.string().min(1).optional(),
  key: z.string().min(1).optional(),
  msgId: z.string().min(1).optional(),
  queueId: wholeNumber().optional(),
  offset: wholeNumber().optional(),
  begin: wholeNumber().default(0),
  end: wholeNumber().default(Number.MAX_SAFE_INTEGER),
  max: wholeNumber(1, MESSAGES_MAX).default(32),
});

const find = createRoute({
  method: "get",
  path: "/admin/messages",
  summary: "Messages by msgId, by topic and key, or by topic, queueId, offset",
  request: { query },
  responses: {
    200: {
      description: "What was found; may be empty",
      content: {
        "application/json": {
          schema: z.object({ messages: z.array(MessageSchema) }),
        },
      },
    },
    400: PROBLEM_RESPONSE,
    404: PROBLEM_RESPONSE,
  },
});

/** The routes. */
export function messageRoutes(admin: MessageAdmin): OpenAPIHono {
  const app = adminRoutes();
  app.openapi(find, async (c) => {
    const found = await findMessages(admin, c.req.valid("query"));
    return c.json({ messages: found.map(messageJson) }, 200);
  });
  return app;
}

async function findMessages(
  admin: MessageAdmin,
  query: {
    topic?: string | undefined;
    key?: string | undefined;
    msgId?: string | undefined;
    queueId?: number | undefined;
    offset?: number | undefined;
    begin: number;
    end: number;
    max: number;
  },
): Promise<MessageView[]> {
  const { topic, key, msgId, queueId, offset, max } = query;
  const queueNums = topic === undefined ? 0 : admin.queueNums(topic);
  if (queueNums === undefined) throw notFound("Topic", topic!);
  if (msgId !== undefined) return await admin.byId(msgId, topic);
  if (topic === undefined) {
    throw new ProblemError(400, "Give msgId, or topic with key or queueId", [
      { field: "topic", message: "missing" },
    ]);
  }
  if (key !== undefined) {
    return await admin.byKey(topic, key, max, query.begin, query.end);
  }
  if (queueId === undefined || offset === undefined) {
    const field = queueId === undefined ? "queueId" : "offset";
    throw new ProblemError(400, `Give key, or queueId and offset`, [
      { field, message: "missing" },
    ]);
  }
  if (queueId >= queueNums) {
    throw new ProblemError(
      404,
      `Topic ${topic} has no queue ${queueId}: give 0 to ${queueNums - 1}`,
      [
        { field: "queueId", message: `give 0 to ${queueNums - 1}` },
      ],
    );
  }
  return await admin.byOffset(topic, queueId, offset, max);
}

function messageJson(message: MessageView) {
  const { body, properties, ...rest } = message;
  return {
    ...rest,
    properties: { ...properties },
    isBodyCut: rest.bodySize > BODY_SHOWN_MAX,
    ...bodyText(body.subarray(0, BODY_SHOWN_MAX)),
  };
}

/** Text when it is UTF-8 without control characters, else base64. */
export function bodyText(
  body: Uint8Array,
): { encoding: "text" | "base64"; body: string } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    // deno-lint-ignore no-control-regex -- these are what makes it no text
    if (!/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/.test(text)) {
      return { encoding: "text", body: text };
    }
  } catch {
    // No UTF-8: base64 below.
  }
  let binary = "";
  for (const byte of body) binary += String.fromCharCode(byte);
  return { encoding: "base64", body: btoa(binary) };
}
