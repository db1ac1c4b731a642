/** QueryMessageProcessor: QUERY_MESSAGE (12) by key and VIEW_MESSAGE_BY_ID (33). */
import {
  requireInt,
  requireLong,
  requireText,
} from "../../protocol/header/field_reader.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { RequestContext } from "../../remoting/request_processor.ts";
import { shown } from "../../base/shown.ts";

/** What queries need of the store. */
export interface QueryMessageStore {
  queryMessage(
    topic: string,
    key: string,
    maxNum: number,
    beginMs: number,
    endMs: number,
  ): Promise<{
    records: Uint8Array[];
    indexLastUpdateTimestamp: number;
    indexLastUpdatePhyoffset: number;
  }>;
  selectOneMessageByOffset(phyOffset: number): Promise<Uint8Array | undefined>;
}

/** Keys that queries read. */
export interface QueryMessageOptions {
  /** Messages of an answer to a query by unique key. */
  readonly defaultQueryMaxNum: number;
  /** Most messages of one answer. */
  readonly maxMsgsNumBatch: number;
}

const QUERY = "QueryMessageRequestHeader";
const VIEW = "ViewMessageRequestHeader";
/** Clients that look for a UNIQ_KEY say so in this ext field. */
const UNIQUE_KEY_QUERY_FLAG = "_UNIQUE_KEY_QUERY";
/** Bytes of records in one answer: a frame holds 16 MiB. */
const QUERY_BODY_BYTES_MAX = 15_728_640;

/** Answers queries. */
export class QueryMessageProcessor {
  readonly #store: QueryMessageStore;
  #options: QueryMessageOptions;

  constructor(store: QueryMessageStore, options: QueryMessageOptions) {
    this.#store = store;
    this.#options = options;
  }

  reconfigure(options: QueryMessageOptions): void {
    this.#options = options;
  }

  readonly queryMessage = async (
    _context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const fields = request.extFields;
    const topic = requireText(fields, "topic", QUERY);
    const key = requireText(fields, "key", QUERY);
    const asked = requireInt(fields, "maxNum", QUERY);
    const beginMs = requireLong(fields, "beginTimestamp", QUERY);
    const endMs = requireLong(fields, "endTimestamp", QUERY);
    const { defaultQueryMaxNum, maxMsgsNumBatch } = this.#options;
    const maxNum = fields[UNIQUE_KEY_QUERY_FLAG] === "true"
      ? defaultQueryMaxNum
      : Math.min(asked, maxMsgsNumBatch);
    const found = await this.#store.queryMessage(
      topic,
      key,
      maxNum,
      beginMs,
      endMs,
    );
    const extFields = {
      indexLastUpdateTimestamp: String(found.indexLastUpdateTimestamp),
      indexLastUpdatePhyoffset: String(found.indexLastUpdatePhyoffset),
    };
    return found.records.length === 0
      ? createResponse(
        ResponseCode.QUERY_NOT_FOUND,
        "can not find message, maybe time range not correct",
        extFields,
      )
      : createResponse(
        ResponseCode.SUCCESS,
        null,
        extFields,
        concatenate(found.records),
      );
  };

  readonly viewMessageById = async (
    _context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const offset = requireLong(request.extFields, "offset", VIEW);
    const record = await this.#store.selectOneMessageByOffset(offset);
    return record === undefined
      ? createResponse(
        ResponseCode.SYSTEM_ERROR,
        // As it was asked: a number beyond what a log can hold was made smaller.
        `can not find message by the offset, ${
          shown(request.extFields.offset!, 32)
        }`,
      )
      : createResponse(ResponseCode.SUCCESS, null, {}, record);
  };
}

/** As many whole records as one frame can carry. */
function concatenate(records: readonly Uint8Array[]): Uint8Array {
  let size = 0;
  let count = 0;
  for (const it of records) {
    if (count > 0 && size + it.length > QUERY_BODY_BYTES_MAX) break;
    size += it.length;
    count++;
  }
  const body = new Uint8Array(size);
  let position = 0;
  for (const it of records.slice(0, count)) {
    body.set(it, position);
    position += it.length;
  }
  return body;
}
