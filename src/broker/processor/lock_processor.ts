/** LockProcessor: LOCK_BATCH_MQ (41) and UNLOCK_BATCH_MQ (42); reference 11.4. */
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
    [RequestCode.LOCK_BATCH_MQ, (_context, request: RemotingCommand) => {
      const body = decodeLockBatchRequestBody(request.body);
      const error = errorOf(body);
      if (error !== undefined) {
        return createResponse(ResponseCode.INVALID_PARAMETER, error);
      }
      const { consumerGroup, mqSet, clientId } = body;
      const locked = locks.tryLockBatch(consumerGroup, mqSet, clientId);
      return createResponse(
        ResponseCode.SUCCESS,
        null,
        {},
        encodeLockBatchResponseBody(locked),
      );
    }],
    [RequestCode.UNLOCK_BATCH_MQ, (_context, request: RemotingCommand) => {
      const body = decodeLockBatchRequestBody(request.body);
      locks.unlockBatch(body.consumerGroup, body.mqSet, body.clientId);
      return createResponse(ResponseCode.SUCCESS);
    }],
  ]);
}

function errorOf(body: LockBatchRequestBody): string | undefined {
  if (body.consumerGroup === "") return "The consumerGroup is blank.";
  if (body.clientId === "") return "The clientId is blank.";
  return undefined;
}
