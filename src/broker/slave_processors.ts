/**
 * SlaveProcessors: what a slave does with requests that are its master's.
 *
 * Commits (15) and queries (14) of positions, and locks of queues (41, 42), go
 * on to a master that answers, so that both nodes agree; without one they are
 * served here. Changes of topics and groups are refused: the next round would
 * undo them.
 */
import {
  decodeQueryConsumerOffsetRequestHeader,
  decodeUpdateConsumerOffsetRequestHeader,
} from "../protocol/header/consumer_offset_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { RequestProcessor } from "../remoting/request_processor.ts";
import type { ConsumerOffsetManager } from "./consumer_offset_manager.ts";
import type { SlaveSynchronize } from "./slave_synchronize.ts";

/** What they need. */
export interface SlaveProcessorsPorts {
  isSlave(): boolean;
  /** Why this broker is no master any more; null: it is one, or a slave. */
  fencedReason(): string | null;
  readonly slaveSynchronize: Pick<
    SlaveSynchronize,
    "isMasterAlive" | "forward"
  >;
  readonly consumerOffsetManager: Pick<
    ConsumerOffsetManager,
    "isOwn" | "forwarded"
  >;
}

/** Codes that change topics, groups or positions on a master only. */
export const MASTER_CODES = [
  RequestCode.UPDATE_AND_CREATE_TOPIC,
  RequestCode.UPDATE_AND_CREATE_TOPIC_LIST,
  RequestCode.DELETE_TOPIC_IN_BROKER,
  RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
  RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
  RequestCode.DELETE_SUBSCRIPTIONGROUP,
  RequestCode.CLONE_GROUP_OFFSET,
  RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN,
  RequestCode.SET_MESSAGE_REQUEST_MODE,
];

/** Puts them before the processors of `table`. */
export function wrapForSlave(
  table: Map<number, RequestProcessor>,
  ports: SlaveProcessorsPorts,
): void {
  const wrap = (
    code: number,
    onSlave: (processor: RequestProcessor) => RequestProcessor,
  ) => {
    const processor = table.get(code);
    if (processor === undefined) return;
    const slaves = onSlave(processor);
    table.set(
      code,
      (context, request) =>
        ports.isSlave()
          ? slaves(context, request)
          : processor(context, request),
    );
  };
  for (const code of MASTER_CODES) {
    const processor = table.get(code);
    if (processor === undefined) continue;
    table.set(code, (context, request) => {
      const reason = ports.isSlave() ? IS_SLAVE : ports.fencedReason();
      return reason === null
        ? processor(context, request)
        : createResponse(ResponseCode.SYSTEM_ERROR, reason);
    });
  }
  wrap(RequestCode.QUERY_CONSUMER_OFFSET, (it) => queryOnMaster(ports, it));
  wrap(RequestCode.UPDATE_CONSUMER_OFFSET, (it) => commitOnMaster(ports, it));
  const lock = table.get(RequestCode.LOCK_BATCH_MQ);
  if (lock !== undefined) {
    table.set(RequestCode.LOCK_BATCH_MQ, unlessFenced(ports, lock));
  }
  for (const code of [RequestCode.LOCK_BATCH_MQ, RequestCode.UNLOCK_BATCH_MQ]) {
    wrap(code, (it) => lockOnMaster(ports, it));
  }
}

const IS_SLAVE =
  "This broker is a slave: topics and groups are changed on its master";

function queryOnMaster(
  { slaveSynchronize, consumerOffsetManager }: SlaveProcessorsPorts,
  processor: RequestProcessor,
): RequestProcessor {
  return (context, request) => {
    if (!slaveSynchronize.isMasterAlive) return processor(context, request);
    const header = decodeQueryConsumerOffsetRequestHeader(request.extFields);
    const { consumerGroup, topic, queueId } = header;
    // What was committed here while no master lived is on its way there.
    if (consumerOffsetManager.isOwn(consumerGroup, topic, queueId)) {
      return processor(context, request);
    }
    return slaveSynchronize.forward(request).then((answer) =>
      answer === undefined ? here(processor(context, request)) : relayed(answer)
    );
  };
}

function commitOnMaster(
  { slaveSynchronize, consumerOffsetManager }: SlaveProcessorsPorts,
  processor: RequestProcessor,
): RequestProcessor {
  return (context, request) => {
    if (!slaveSynchronize.isMasterAlive) return processor(context, request);
    return slaveSynchronize.forward(request).then(async (answer) => {
      if (answer !== undefined && answer.code !== ResponseCode.SUCCESS) {
        return relayed(answer);
      }
      const response = await here(processor(context, request));
      if (answer === undefined) return response;
      const { consumerGroup, topic, queueId, commitOffset } =
        decodeUpdateConsumerOffsetRequestHeader(request.extFields);
      consumerOffsetManager.forwarded(
        consumerGroup,
        topic,
        queueId,
        commitOffset,
      );
      return relayed(answer);
    });
  };
}

/** A master that another one has overtaken grants nothing. */
function unlessFenced(
  { fencedReason }: SlaveProcessorsPorts,
  processor: RequestProcessor,
): RequestProcessor {
  return (context, request) => {
    const reason = fencedReason();
    return reason === null
      ? processor(context, request)
      : createResponse(ResponseCode.SYSTEM_ERROR, reason);
  };
}

/** Two brokers that both grant a queue would end the order of its messages. */
function lockOnMaster(
  { slaveSynchronize }: SlaveProcessorsPorts,
  processor: RequestProcessor,
): RequestProcessor {
  return (context, request) => {
    if (!slaveSynchronize.isMasterAlive) return processor(context, request);
    const own = { ...request, body: request.body.slice() };
    return slaveSynchronize.forward(own).then((answer) =>
      answer === undefined ? here(processor(context, own)) : relayed(answer)
    );
  };
}

/** The processors wrapped here answer in every case. */
function here(
  answer: ReturnType<RequestProcessor>,
): RemotingCommand | Promise<RemotingCommand> {
  if (typeof answer === "symbol") throw new Error("The request was held");
  return answer;
}

/** The master's answer as this broker's. */
function relayed(answer: RemotingCommand): RemotingCommand {
  return createResponse(
    answer.code,
    answer.remark,
    answer.extFields,
    answer.body,
  );
}
