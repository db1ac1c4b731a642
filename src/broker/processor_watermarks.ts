/** Requests in progress by the processor that has them in Apache's broker. */
import { RequestCode } from "../protocol/request_code.ts";
import type { RpcStats } from "../remoting/rpc_stats.ts";

const CODES = {
  send: [
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
    RequestCode.CONSUMER_SEND_MSG_BACK,
  ],
  pull: [RequestCode.PULL_MESSAGE],
  ack: [
    RequestCode.ACK_MESSAGE,
    RequestCode.BATCH_ACK_MESSAGE,
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
  ],
  query_message: [RequestCode.QUERY_MESSAGE, RequestCode.VIEW_MESSAGE_BY_ID],
  client_manager: [
    RequestCode.UNREGISTER_CLIENT,
    RequestCode.CHECK_CLIENT_CONFIG,
  ],
  heartbeat: [RequestCode.HEART_BEAT],
  lite_pull: [RequestCode.LITE_PULL_MESSAGE],
  transaction: [RequestCode.END_TRANSACTION],
  consumer_manager: [
    RequestCode.GET_CONSUMER_LIST_BY_GROUP,
    RequestCode.UPDATE_CONSUMER_OFFSET,
    RequestCode.QUERY_CONSUMER_OFFSET,
  ],
  reply: [RequestCode.SEND_REPLY_MESSAGE, RequestCode.SEND_REPLY_MESSAGE_V2],
} as const;

/** A processor; `admin` has all other codes. */
export type ProcessorName = keyof typeof CODES | "admin";

const PROCESSOR_OF: ReadonlyMap<number, ProcessorName> = new Map(
  Object.entries(CODES).flatMap(([name, codes]) =>
    codes.map((code) => [code, name as ProcessorName] as const)
  ),
);

/** All processors, with 0 where nothing is in progress. */
export function watermarksOf(
  requests: ReadonlyMap<number, RpcStats>,
): Map<ProcessorName, number> {
  const names = Object.keys(CODES) as ProcessorName[];
  const marks = new Map<ProcessorName, number>(
    names.map((name) => [name, 0]),
  );
  marks.set("admin", 0);
  for (const [code, { inProgress }] of requests) {
    const name = PROCESSOR_OF.get(code) ?? "admin";
    marks.set(name, marks.get(name)! + inProgress);
  }
  return marks;
}
