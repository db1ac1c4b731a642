/** QueryConsumeQueueResponseBody: the body of QUERY_CONSUME_QUEUE (321), reference 2.3. */
import type { SubscriptionData } from "../../model/subscription_data.ts";
import { type FastjsonValue, writeFastjson } from "../fastjson.ts";
import { subscriptionDataToJson } from "./subscription_data_body.ts";

/** One unit of a ConsumeQueue. */
export interface ConsumeQueueData {
  readonly physicOffset: number;
  /** Bytes of the record. */
  readonly physicSize: number;
  readonly tagsCode: bigint;
}

/** Units of one queue, and what a group subscribes of them. */
export interface QueryConsumeQueueBody {
  /** Null: no group was named, or it is not there. */
  readonly subscriptionData: SubscriptionData | null;
  /** Null: no group was named. */
  readonly filterData: string | null;
  readonly queueData: readonly ConsumeQueueData[];
  readonly maxQueueIndex: number;
  readonly minQueueIndex: number;
}

/** The body. */
export function encodeQueryConsumeQueueBody(
  body: QueryConsumeQueueBody,
): Uint8Array {
  const { subscriptionData, filterData } = body;
  return new TextEncoder().encode(writeFastjson({
    filterData: filterData ?? undefined,
    maxQueueIndex: body.maxQueueIndex,
    minQueueIndex: body.minQueueIndex,
    queueData: body.queueData.map((it) => ({
      eval: false,
      physicOffset: it.physicOffset,
      physicSize: it.physicSize,
      tagsCode: it.tagsCode,
    })),
    subscriptionData: subscriptionData === null
      ? undefined
      : subscriptionDataToJson(subscriptionData) as FastjsonValue,
  }));
}
