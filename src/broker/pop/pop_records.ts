/** PopRecords: reads queues of the store record by record, for what POP has to do itself. */
import type { Clock } from "../../io/clock.ts";
import { CorruptRecordError } from "../../model/corrupt_record_error.ts";
import type { MessageExt } from "../../model/message_ext.ts";
import {
  decodeMessageRecord,
  QUEUE_OFFSET_POSITION,
} from "../../model/message_record.ts";
import type {
  GetMessageResult,
  MessageFilter,
} from "../../store/get_message_result.ts";

/** What is read from. */
export interface PopReader {
  getMessage(request: {
    topic: string;
    queueId: number;
    offset: number;
    maxMsgNums: number;
    filter: MessageFilter | null;
  }): GetMessageResult | Promise<GetMessageResult>;
  /** With `committed` false also what consumers may not see yet. */
  getMaxOffsetInQueue(
    topic: string,
    queueId: number,
    committed?: boolean,
  ): number;
  getMinOffsetInQueue(topic: string, queueId: number): number;
}

/** One record; null for one that nobody can read. */
export interface PopRecord {
  readonly offset: number;
  readonly message: MessageExt | null;
}

const BATCH_MAX = 32;
/** So many batches are read before others get their turn. */
const BATCHES_OF_A_TURN = 8;

/** The records of a queue from `from` on to where it ends now. */
export async function* recordsFrom(
  reader: PopReader,
  clock: Clock,
  topic: string,
  queueId: number,
  from: number,
): AsyncGenerator<PopRecord> {
  const end = reader.getMaxOffsetInQueue(topic, queueId);
  let batches = 0;
  for (let offset = from; offset < end;) {
    if (++batches % BATCHES_OF_A_TURN === 0) {
      await new Promise<void>((resolve) => clock.after(0, resolve));
    }
    const result = await reader.getMessage({
      topic,
      queueId,
      offset,
      maxMsgNums: BATCH_MAX,
      filter: null,
    });
    yield* takeRecords(result);
    if (result.nextBeginOffset <= offset) return;
    offset = result.nextBeginOffset;
  }
}

/** The one record at that place; null when it is gone or nobody can read it. */
export async function recordAt(
  reader: PopReader,
  topic: string,
  queueId: number,
  offset: number,
): Promise<MessageExt | null> {
  const result = await reader.getMessage({
    topic,
    queueId,
    offset,
    maxMsgNums: 1,
    filter: null,
  });
  const record = takeRecords(result).find((it) => it.offset === offset);
  return record?.message ?? null;
}

/** The records of an answer, which own their bytes; the answer's are given back. */
export function takeRecords(result: GetMessageResult): PopRecord[] {
  if (result.status !== "FOUND") return [];
  const body = result.body.slice();
  result.release();
  return [...positionsOf(body)].map(([position, size, offset]) => ({
    offset,
    message: decoded(body.subarray(position, position + size)),
  }));
}

/** Place, size and queue offset of each record. Layout: `../../model/message_record.ts`. */
export function* positionsOf(
  body: Uint8Array,
): Generator<readonly [position: number, size: number, queueOffset: number]> {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  for (let position = 0; position < body.length;) {
    const size = view.getInt32(position);
    const offset = view.getBigInt64(position + QUEUE_OFFSET_POSITION);
    yield [position, size, Number(offset)];
    position += size;
  }
}

function decoded(bytes: Uint8Array): MessageExt | null {
  try {
    return decodeMessageRecord(bytes);
  } catch (error) {
    if (!(error instanceof CorruptRecordError)) throw error;
    return null;
  }
}
