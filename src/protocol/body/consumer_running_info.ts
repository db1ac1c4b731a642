/** ConsumerRunningInfo: what a member of a group says of itself (307; reference 2.5). */
import type { MessageQueue } from "../../model/message_queue.ts";
import {
  booleanField,
  decodeJson,
  intField,
  mapField,
  numberField,
  objectOf,
  optionalTextField,
} from "./json_fields.ts";
import { messageQueueMapEntries } from "./message_queue_body.ts";

/** One queue that the member has. */
export interface ProcessQueueInfo {
  readonly queue: MessageQueue;
  readonly commitOffset: number;
  readonly cachedMsgCount: number;
  readonly locked: boolean;
  /** The member gave the queue up and still finishes what it has of it. */
  readonly droped: boolean;
  /** Milliseconds; 0: never. */
  readonly lastPullTimestamp: number;
  readonly lastConsumeTimestamp: number;
}

/** How fast the member consumes one topic. */
export interface ConsumeStatus {
  /** Milliseconds of a pull, and of a batch. */
  readonly pullRT: number;
  readonly consumeRT: number;
  /** Messages a second. */
  readonly pullTPS: number;
  readonly consumeOKTPS: number;
  readonly consumeFailedTPS: number;
  /** Within the last hour. */
  readonly consumeFailedMsgs: number;
}

/** The parts that the tools show. */
export interface ConsumerRunningInfo {
  readonly properties: ReadonlyMap<string, string>;
  readonly queues: readonly ProcessQueueInfo[];
  /** By topic. */
  readonly statusTable: ReadonlyMap<string, ConsumeStatus>;
  /** Stacks of its threads, where they were asked for. */
  readonly jstack: string | null;
}

/** Reads the body; throws `BodyError`. */
export function decodeConsumerRunningInfo(
  bytes: Uint8Array,
): ConsumerRunningInfo {
  const name = "ConsumerRunningInfo";
  const object = objectOf(decodeJson(bytes, name), name);
  return {
    properties: mapField(object, "properties", (value) => String(value)),
    queues: messageQueueMapEntries(object.mqTable).map(([queue, value]) =>
      processQueueOf(queue, value)
    ),
    statusTable: mapField(object, "statusTable", consumeStatusOf),
    jstack: optionalTextField(object, "jstack") ?? null,
  };
}

function processQueueOf(queue: MessageQueue, value: unknown): ProcessQueueInfo {
  const from = objectOf(value, "mqTable");
  return {
    queue,
    commitOffset: intField(from, "commitOffset", 0),
    cachedMsgCount: intField(from, "cachedMsgCount", 0),
    locked: booleanField(from, "locked", false),
    droped: booleanField(from, "droped", false),
    lastPullTimestamp: intField(from, "lastPullTimestamp", 0),
    lastConsumeTimestamp: intField(from, "lastConsumeTimestamp", 0),
  };
}

function consumeStatusOf(value: unknown): ConsumeStatus {
  const from = objectOf(value, "statusTable");
  const number = (name: string) => numberField(from, name, 0);
  return {
    pullRT: number("pullRT"),
    consumeRT: number("consumeRT"),
    pullTPS: number("pullTPS"),
    consumeOKTPS: number("consumeOKTPS"),
    consumeFailedTPS: number("consumeFailedTPS"),
    consumeFailedMsgs: intField(from, "consumeFailedMsgs", 0),
  };
}

/** What became of a message that a member was given (309). */
export interface ConsumeMessageDirectlyResult {
  /** `CR_SUCCESS`, `CR_LATER`, `CR_ROLLBACK`, `CR_COMMIT`, `CR_THROW_EXCEPTION`, `CR_RETURN_NULL`. */
  readonly consumeResult: string;
  readonly remark: string | null;
  readonly order: boolean;
  readonly spentTimeMills: number;
}

/** Reads the body of 309; throws `BodyError`. */
export function decodeConsumeMessageDirectlyResult(
  bytes: Uint8Array,
): ConsumeMessageDirectlyResult {
  const name = "ConsumeMessageDirectlyResult";
  const object = objectOf(decodeJson(bytes, name), name);
  return {
    consumeResult: optionalTextField(object, "consumeResult") ?? "unknown",
    remark: optionalTextField(object, "remark") ?? null,
    order: booleanField(object, "order", false),
    spentTimeMills: intField(object, "spentTimeMills", 0),
  };
}
