/** EndTransactionProcessor: END_TRANSACTION (37) and RESUME_CHECK_HALF_MESSAGE (323), reference 12. */
import { shown } from "../../base/shown.ts";
import { decodeMessageId } from "../../model/message_id.ts";
import { MessageSysFlag } from "../../model/message_sys_flag.ts";
import { decodeEndTransactionRequestHeader } from "../../protocol/header/end_transaction_request_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestContext,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import type { TransactionalMessageService } from "../transaction/transactional_message_service.ts";

/** What the processors work on. */
export interface EndTransactionDeps {
  readonly transactions: Pick<TransactionalMessageService, "end" | "resume">;
  isSlave(): boolean;
}

/** Processors by request code. */
export function endTransactionProcessors(
  deps: EndTransactionDeps,
): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [RequestCode.END_TRANSACTION, (_, request) => end(deps, request)],
    [
      RequestCode.RESUME_CHECK_HALF_MESSAGE,
      (_: RequestContext, request) => resume(deps, request),
    ],
  ]);
}

async function end(
  { isSlave, transactions }: EndTransactionDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  if (isSlave()) {
    return createResponse(
      ResponseCode.SLAVE_NOT_AVAILABLE,
      "a slave ends no transactions",
    );
  }
  const header = decodeEndTransactionRequestHeader(request.extFields);
  const {
    TRANSACTION_COMMIT_TYPE,
    TRANSACTION_NOT_TYPE,
    TRANSACTION_ROLLBACK_TYPE,
  } = MessageSysFlag;
  switch (header.commitOrRollback) {
    case TRANSACTION_COMMIT_TYPE:
    case TRANSACTION_ROLLBACK_TYPE: {
      const { code, remark } = await transactions.end(header);
      return createResponse(code, remark);
    }
    case TRANSACTION_NOT_TYPE:
      // Not known yet: the producer will be asked.
      return createResponse(ResponseCode.SUCCESS, "the transaction goes on");
    default:
      return createResponse(
        ResponseCode.SYSTEM_ERROR,
        `commitOrRollback is ${header.commitOrRollback}: send ${TRANSACTION_COMMIT_TYPE} ` +
          `to commit, ${TRANSACTION_ROLLBACK_TYPE} to roll back, ` +
          `${TRANSACTION_NOT_TYPE} while it is not known.`,
      );
  }
}

async function resume(
  { isSlave, transactions }: EndTransactionDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  if (isSlave()) {
    return createResponse(
      ResponseCode.SLAVE_NOT_AVAILABLE,
      "a slave checks no transactions",
    );
  }
  const msgId = request.extFields.msgId ?? "";
  const id = decodeMessageId(msgId);
  if (id === undefined) {
    return createResponse(
      ResponseCode.SYSTEM_ERROR,
      `msgId ${shown(msgId)} is no offset message id`,
    );
  }
  const { code, remark } = await transactions.resume(id.phyOffset);
  return createResponse(code, remark);
}
