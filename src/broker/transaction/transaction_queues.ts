/** TransactionQueues: the half queue and the op queue as a round of checks reads them. */
import type { Clock } from "../../io/clock.ts";
import { CorruptRecordError } from "../../model/corrupt_record_error.ts";
import type { MessageExt } from "../../model/message_ext.ts";
import {
  decodeMessageRecord,
  QUEUE_OFFSET_POSITION,
} from "../../model/message_record.ts";
import { TopicNames } from "../../model/topic_names.ts";
import type {
  GetMessageResult,
  MessageFilter,
} from "../../store/get_message_result.ts";
import {
  isGivenUp,
  opOffsetsOf,
  originalOffsetOf,
  TRANSACTION_QUEUE_ID,
} from "./half_message.ts";
import { TransactionTable } from "./transaction_table.ts";

/** The group whose offsets tell how far both queues were worked off. */
export const TRANSACTION_GROUP = "CID_RMQ_SYS_TRANS";
const HALF = TopicNames.RMQ_SYS_TRANS_HALF_TOPIC;
const OP = TopicNames.RMQ_SYS_TRANS_OP_HALF_TOPIC;
const BATCH_MAX = 32;
/** So many batches are read before others get their turn. */
const BATCHES_OF_A_TURN = 8;

/** What is needed of the broker. */
export interface TransactionQueuesPorts {
  readonly reader: {
    getMessage(request: {
      topic: string;
      queueId: number;
      offset: number;
      maxMsgNums: number;
      filter: MessageFilter | null;
    }): GetMessageResult | Promise<GetMessageResult>;
    getMaxOffsetInQueue(topic: string, queueId: number): number;
    getMinOffsetInQueue(topic: string, queueId: number): number;
  };
  readonly offsets: {
    queryOffset(group: string, topic: string, queueId: number): number;
    commitOffset(
      clientHost: string,
      group: string,
      topic: string,
      queueId: number,
      offset: number,
    ): unknown;
  };
  readonly clock: Clock;
}

/** One record of a queue; null for one that nobody can read. */
export interface QueueRecord {
  readonly offset: number;
  readonly message: MessageExt | null;
}

/** Reads both queues. */
export class TransactionQueues {
  readonly #ports: TransactionQueuesPorts;

  constructor(ports: TransactionQueuesPorts) {
    this.#ports = ports;
  }

  /** The state that both queues and the stored offsets describe. */
  async load(): Promise<TransactionTable> {
    const table = new TransactionTable(
      this.#storedOffset(HALF),
      this.#storedOffset(OP),
    );
    for await (const { offset, message } of this.halves(table.halfOffset)) {
      if (message === null) continue;
      const original = originalOffsetOf(message);
      if (original !== offset) table.onCopy(original, offset);
    }
    await this.readOps(table);
    return table;
  }

  /** Notes op messages that the table does not know yet. */
  async readOps(table: TransactionTable): Promise<void> {
    const from = table.nextOpOffset;
    for await (const { offset, message } of this.#records(OP, from)) {
      table.skipOpsTo(offset);
      if (message === null) table.onOp(offset, []);
      else table.onOp(offset, opOffsetsOf(message), isGivenUp(message));
    }
  }

  /** Half messages from `offset` to where the queue ends now. */
  halves(offset: number): AsyncGenerator<QueueRecord> {
    return this.#records(HALF, offset);
  }

  /** Stores how far both queues need not be read any more. */
  store(table: TransactionTable, host: string): void {
    const done = [[HALF, table.halfOffset], [OP, table.opOffset]] as const;
    for (const [topic, offset] of done) {
      const stored = this.#ports.offsets.queryOffset(
        TRANSACTION_GROUP,
        topic,
        TRANSACTION_QUEUE_ID,
      );
      if (stored === offset) continue;
      this.#ports.offsets.commitOffset(
        host,
        TRANSACTION_GROUP,
        topic,
        TRANSACTION_QUEUE_ID,
        offset,
      );
    }
  }

  #storedOffset(topic: string): number {
    const { offsets, reader } = this.#ports;
    return Math.max(
      offsets.queryOffset(TRANSACTION_GROUP, topic, TRANSACTION_QUEUE_ID),
      reader.getMinOffsetInQueue(topic, TRANSACTION_QUEUE_ID),
      0,
    );
  }

  async *#records(topic: string, from: number): AsyncGenerator<QueueRecord> {
    const { clock, reader } = this.#ports;
    const end = reader.getMaxOffsetInQueue(topic, TRANSACTION_QUEUE_ID);
    let batches = 0;
    for (let offset = from; offset < end;) {
      if (++batches % BATCHES_OF_A_TURN === 0) {
        await new Promise<void>((resolve) => clock.after(0, resolve));
      }
      const result = await reader.getMessage({
        topic,
        queueId: TRANSACTION_QUEUE_ID,
        offset,
        maxMsgNums: BATCH_MAX,
        filter: null,
      });
      if (result.status === "FOUND") {
        // Owned: the records outlive the store's buffer.
        const body = result.body.slice();
        result.release();
        // What comes while this round lasts is for the next one.
        for (const it of recordsOf(body)) if (it.offset < end) yield it;
      }
      if (result.nextBeginOffset <= offset) return;
      offset = result.nextBeginOffset;
    }
  }
}

function* recordsOf(body: Uint8Array): Generator<QueueRecord> {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  for (let position = 0; position < body.length;) {
    const size = view.getInt32(position);
    yield recordAt(body.subarray(position, position + size), view, position);
    position += size;
  }
}

/** Layout: `../../model/message_record.ts`. */
function recordAt(
  bytes: Uint8Array,
  view: DataView,
  position: number,
): QueueRecord {
  const offset = Number(view.getBigInt64(position + QUEUE_OFFSET_POSITION));
  try {
    return { offset, message: decodeMessageRecord(bytes) };
  } catch (error) {
    if (!(error instanceof CorruptRecordError)) throw error;
    return { offset, message: null };
  }
}
