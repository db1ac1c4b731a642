/** LockProcessor: LOCK_BATCH_MQ (41) and UNLOCK_BATCH_MQ (42); reference 11.4. */
import { shown } from "../../base/shown.ts";
import {
  decodeLockBatchRequestBody,
  encodeLockBatchResponseBody,
  type LockBatchRequestBody,
} from "../../protocol/body/lock_batch_body.ts";
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
import type { RebalanceLockManager } from "../rebalance_lock_manager.ts";

/** What the processor works on. */
export interface LockDeps {
  readonly rebalanceLockManager: RebalanceLockManager;
}

/** Processors by request code. */
export function lockProcessors(deps: LockDeps): ProcessorTable {
  const { rebalanceLockManager: locks } = deps;
  return new Map<number, RequestProcessor>([
    [
      RequestCode.LOCK_BATCH_MQ,
      checked(({ consumerGroup, mqSet, clientId }) => {
        const locked = locks.tryLockBatch(consumerGroup, mqSet, clientId);
        return createResponse(
          ResponseCode.SUCCESS,
          null,
          {},
          encodeLockBatchResponseBody(locked),
        );
      }),
    ],
    [
      RequestCode.UNLOCK_BATCH_MQ,
      checked(({ consumerGroup, mqSet, clientId }) => {
        locks.unlockBatch(consumerGroup, mqSet, clientId);
        return createResponse(ResponseCode.SUCCESS);
      }),
    ],
  ]);
}

/** Refuses what no client means; Apache fails at a null, and takes the rest. */
function checked(
  process: (body: LockBatchRequestBody) => RemotingCommand,
): RequestProcessor {
  return (_context, request: RemotingCommand) => {
    const body = decodeLockBatchRequestBody(request.body);
    const error = errorOf(body);
    return error === undefined
      ? process(body)
      : createResponse(ResponseCode.INVALID_PARAMETER, error);
  };
}

function errorOf(body: LockBatchRequestBody): string | undefined {
  const { clientId, consumerGroup, mqSet } = body;
  if (consumerGroup.trim() === "") {
    return "The consumerGroup is blank: name the group of the consumer.";
  }
  if (clientId.trim() === "") {
    return "The clientId is blank: name the client, as in its heartbeat.";
  }
  const odd = mqSet.find((it) => it.topic === "" || it.queueId < 0);
  return odd === undefined
    ? undefined
    : `A queue of mqSet has topic "${
      shown(odd.topic)
    }" and queueId ${odd.queueId}: ` +
      "name a topic, and a queue from 0 on.";
}
