/** QUERY_CONSUME_QUEUE (321): units of one queue as they lie on the disk (reference 2.3). */
import { shown } from "../../base/shown.ts";
import { encodeQueryConsumeQueueBody } from "../../protocol/body/query_consume_queue_body.ts";
import { decodeQueryConsumeQueueRequestHeader } from "../../protocol/header/consumer_admin_header.ts";
import { writePrettyFastjson } from "../../protocol/pretty_fastjson.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import type { ConsumeQueueUnit } from "../../store/consume_queue_unit.ts";
import { consumerFilterDataToJson } from "../consumer_filter_data.ts";
import type { ConsumerFilterManager } from "../consumer_filter_manager.ts";
import type { ConsumerManager } from "../consumer_manager.ts";
import { invalid } from "./admin_response.ts";

/** What the processor asks of the store. */
export interface QueueUnitStore {
  getMinOffsetInQueue(topic: string, queueId: number): number;
  getMaxOffsetInQueue(topic: string, queueId: number): number;
  /** At most `count` from a queue offset on; undefined when there is no such queue. */
  queueUnits(
    topic: string,
    queueId: number,
    queueOffset: number,
    count: number,
  ): Promise<ConsumeQueueUnit[] | undefined>;
}

/** What the processor works on. */
export interface QueryConsumeQueueDeps {
  readonly messageStore: QueueUnitStore;
  readonly consumerManager: ConsumerManager;
  readonly consumerFilterManager: Pick<ConsumerFilterManager, "get">;
}

/** Units of one answer: some 100 bytes each, and a frame holds 16 MiB. */
const COUNT_MAX = 65_536;

/** The processor by request code. */
export function queryConsumeQueueProcessors(
  deps: QueryConsumeQueueDeps,
): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [
      RequestCode.QUERY_CONSUME_QUEUE,
      (_context, request) => queryConsumeQueue(deps, request),
    ],
  ]);
}

async function queryConsumeQueue(
  deps: QueryConsumeQueueDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const { messageStore: store, consumerManager } = deps;
  const { topic, queueId, index, count, consumerGroup } =
    decodeQueryConsumeQueueRequestHeader(request.extFields);
  if (count < 0 || count > COUNT_MAX) {
    return invalid(`The count is ${count}, allowed are 0 to ${COUNT_MAX}.`);
  }
  const units = await store.queueUnits(topic, queueId, index, count);
  const name = `${queueId}@${shown(topic)}`;
  if (units === undefined) {
    return createResponse(ResponseCode.SYSTEM_ERROR, `${name} is not exist!`);
  }
  const subscription = consumerGroup === undefined
    ? undefined
    : consumerManager.findSubscriptionData(consumerGroup, topic);
  const body = encodeQueryConsumeQueueBody({
    subscriptionData: subscription ?? null,
    filterData: consumerGroup === undefined
      ? null
      : subscription === undefined
      ? `${shown(consumerGroup)}@${shown(topic)} is not online!`
      : filterDataText(deps, topic, consumerGroup),
    queueData: units.map((it) => ({
      physicOffset: it.phyOffset,
      physicSize: it.size,
      tagsCode: BigInt(it.tagsCodeHigh) << 32n | BigInt(it.tagsCodeLow >>> 0),
    })),
    maxQueueIndex: store.getMaxOffsetInQueue(topic, queueId),
    minQueueIndex: store.getMinOffsetInQueue(topic, queueId),
  });
  const remark = units.length === 0 && count > 0
    ? `Index ${index} of ${name} is not exist!`
    : null;
  return createResponse(ResponseCode.SUCCESS, remark, {}, body);
}

/** "null", as Java writes it, for a group without an SQL expression. */
function filterDataText(
  { consumerFilterManager }: QueryConsumeQueueDeps,
  topic: string,
  group: string,
): string {
  const data = consumerFilterManager.get(topic, group);
  return data === undefined
    ? "null"
    : writePrettyFastjson(consumerFilterDataToJson(data));
}
