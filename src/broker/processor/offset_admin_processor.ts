/**
 * Offsets over remoting: SEARCH_OFFSET_BY_TIMESTAMP (29), GET_MAX_OFFSET (30),
 * GET_MIN_OFFSET (31), GET_EARLIEST_MSG_STORETIME (32), and the tables that
 * slaves copy: GET_ALL_CONSUMER_OFFSET (43), GET_ALL_DELAY_OFFSET (45),
 * GET_ALL_MESSAGE_REQUEST_MODE (402); reference 2.3, 8.3.
 */
import {
  type BoundaryType,
  decodeQueueRequestHeader,
  decodeSearchOffsetRequestHeader,
  type QueueRequestHeader,
} from "../../protocol/header/queue_offset_header.ts";
import {
  createResponse,
  type ExtFields,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import type { ConsumerOffsetManager } from "../consumer_offset_manager.ts";
import type { DelayOffsetFile } from "../delay_offset_file.ts";
import type { MessageRequestModeFile } from "../message_request_mode_file.ts";
import { invalid, textResponse } from "./admin_response.ts";

/** What the store knows of a queue's ends. */
export interface QueueOffsetStore {
  getMinOffsetInQueue(topic: string, queueId: number): number;
  getMaxOffsetInQueue(topic: string, queueId: number): number;
  getOffsetInQueueByTime(
    topic: string,
    queueId: number,
    timestampMs: number,
    boundary: BoundaryType,
  ): Promise<number>;
  /** -1 when the queue is empty. */
  getEarliestMessageTime(topic: string, queueId: number): Promise<number>;
}

/** What the processors work on. */
export interface OffsetAdminDeps {
  readonly messageStore: QueueOffsetStore;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly delayOffsetFile: DelayOffsetFile;
  readonly messageRequestModeFile: MessageRequestModeFile;
}

/** Processors by request code. */
export function offsetAdminProcessors(deps: OffsetAdminDeps): ProcessorTable {
  const { messageStore: store } = deps;
  return new Map<number, RequestProcessor>([
    [RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, (_context, request) => {
      const header = decodeSearchOffsetRequestHeader(request.extFields);
      return ofQueue(header, async ({ topic, queueId }) => ({
        offset: String(
          await store.getOffsetInQueueByTime(
            topic,
            queueId,
            header.timestamp,
            header.boundaryType,
          ),
        ),
      }));
    }],
    [RequestCode.GET_MAX_OFFSET, (_context, request) => {
      const header = queueOf(request, "GetMaxOffsetRequestHeader");
      return ofQueue(header, ({ topic, queueId }) => ({
        offset: String(store.getMaxOffsetInQueue(topic, queueId)),
      }));
    }],
    [RequestCode.GET_MIN_OFFSET, (_context, request) => {
      const header = queueOf(request, "GetMinOffsetRequestHeader");
      return ofQueue(header, ({ topic, queueId }) => ({
        offset: String(store.getMinOffsetInQueue(topic, queueId)),
      }));
    }],
    [RequestCode.GET_EARLIEST_MSG_STORETIME, (_context, request) => {
      const header = queueOf(request, "GetEarliestMsgStoretimeRequestHeader");
      return ofQueue(header, async ({ topic, queueId }) => ({
        timestamp: String(await store.getEarliestMessageTime(topic, queueId)),
      }));
    }],
    ...metadataProcessors(deps),
  ]);
}

function metadataProcessors(
  deps: OffsetAdminDeps,
): [number, RequestProcessor][] {
  const { consumerOffsetManager, delayOffsetFile } = deps;
  const { messageRequestModeFile } = deps;
  return [
    [
      RequestCode.GET_ALL_CONSUMER_OFFSET,
      () => textResponse(consumerOffsetManager.encode()),
    ],
    [
      RequestCode.GET_ALL_DELAY_OFFSET,
      () => textResponse(delayOffsetFile.encode()),
    ],
    [
      RequestCode.GET_ALL_MESSAGE_REQUEST_MODE,
      () => textResponse(messageRequestModeFile.encode()),
    ],
  ];
}

function queueOf(request: RemotingCommand, name: string): QueueRequestHeader {
  return decodeQueueRequestHeader(request.extFields, name);
}

async function ofQueue(
  queue: QueueRequestHeader,
  answer: (queue: QueueRequestHeader) => ExtFields | Promise<ExtFields>,
): Promise<RemotingCommand> {
  if (queue.queueId < 0) {
    return invalid(`The queueId is ${queue.queueId}, allowed are 0 and above.`);
  }
  return createResponse(ResponseCode.SUCCESS, null, await answer(queue));
}
