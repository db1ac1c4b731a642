/** QueryMessageService: by time, by offset and by key (reference 9.7, 4.6). */
import { readInt64 } from "../base/int64.ts";
import { findProperty, MessageConst } from "../model/message_properties.ts";
import {
  BLANK_MARKER_SIZE,
  checkMessageRecord,
  storeTimestampPosition,
  SYS_FLAG_POSITION,
  topicAndPropertiesOf,
} from "../model/message_record.ts";
import type { CommitLog } from "./commit_log.ts";
import type { ConsumeQueueStore } from "./consume_queue_store.ts";
import {
  CONSUME_QUEUE_UNIT_SIZE,
  type ConsumeQueueUnit,
  readConsumeQueueUnit,
} from "./consume_queue_unit.ts";
import {
  type BoundaryType,
  offsetInQueueByTime,
} from "./consume_queue_time.ts";
import type { IndexService } from "./index_service.ts";
import type { RecordReader } from "./record_reader.ts";

/** Bytes of a record from its start to the end of STORETIMESTAMP behind an IPv6 host. */
const HEAD_SIZE = 76;
const QUERY_ROUNDS_MAX = 3;

/** What a query by key found. */
export interface QueryMessageResult {
  readonly records: Uint8Array[];
  readonly indexLastUpdateTimestamp: number;
  readonly indexLastUpdatePhyoffset: number;
}

/** Finds single messages. */
export class QueryMessageService {
  constructor(
    private readonly log: CommitLog,
    private readonly queues: ConsumeQueueStore,
    private readonly index: IndexService,
    private readonly reader: RecordReader,
  ) {}

  /** 0 for a queue that does not exist. */
  async getOffsetInQueueByTime(
    topic: string,
    queueId: number,
    timestampMs: number,
    boundary: BoundaryType,
  ): Promise<number> {
    const queue = this.queues.get(topic, queueId);
    if (queue === undefined) return 0;
    return await offsetInQueueByTime(
      queue,
      timestampMs,
      boundary,
      (phyOffset, size) => this.storeTimestampOf(phyOffset, size),
    );
  }

  /** Store time of the record at a queue offset; -1 when there is none. */
  async getMessageStoreTimeStamp(
    topic: string,
    queueId: number,
    queueOffset: number,
  ): Promise<number> {
    const unit = this.queues.get(topic, queueId)?.unit(queueOffset);
    if (unit === undefined) return -1;
    return await this.storeTimestampOf(unit.phyOffset, unit.size);
  }

  /**
   * At most `count` units of a queue from a queue offset on, fillers among them; none outside of
   * its files. Undefined when there is no such queue.
   */
  async queueUnits(
    topic: string,
    queueId: number,
    queueOffset: number,
    count: number,
  ): Promise<ConsumeQueueUnit[] | undefined> {
    const queue = this.queues.get(topic, queueId);
    if (queue === undefined) return undefined;
    const bytes = new Uint8Array(count * CONSUME_QUEUE_UNIT_SIZE);
    const view = new DataView(bytes.buffer);
    const read = await queue.readUnitsAsync(queueOffset, bytes);
    return Array.from(
      { length: read },
      (_, index) => readConsumeQueueUnit(view, index * CONSUME_QUEUE_UNIT_SIZE),
    );
  }

  /** Store time of the record; -1 when it is gone. */
  async storeTimestampOf(phyOffset: number, size: number): Promise<number> {
    const wanted = Math.min(size, HEAD_SIZE);
    const bytes = await this.reader.readBytes(phyOffset, wanted);
    if (bytes === undefined || bytes.length < HEAD_SIZE) return -1;
    return storeTimestampIn(bytes);
  }

  /** The record at `phyOffset`; undefined when no sound record begins there. */
  async selectOneMessageByOffset(
    phyOffset: number,
  ): Promise<Uint8Array | undefined> {
    if (!Number.isSafeInteger(phyOffset) || phyOffset < 0) return undefined;
    const head = await this.reader.readBytes(phyOffset, BLANK_MARKER_SIZE);
    if (head === undefined) return undefined;
    const size = new DataView(head.buffer).getInt32(0);
    if (size < HEAD_SIZE || !this.log.holds(phyOffset, size)) return undefined;
    const bytes = await this.reader.readBytes(phyOffset, size);
    if (bytes === undefined) return undefined;
    const check = checkMessageRecord(
      bytes,
      new DataView(bytes.buffer),
      0,
      bytes.length,
      { checkCrc: true, phyOffset },
    );
    return check.kind === "record" && check.size === size ? bytes : undefined;
  }

  /** Messages of `topic` whose KEYS or UNIQ_KEY hold `key`, newest first in the index. */
  async queryMessage(
    topic: string,
    key: string,
    maxNum: number,
    beginMs: number,
    endMs: number,
  ): Promise<QueryMessageResult> {
    const records = new Map<number, Uint8Array>();
    let hits = await this.index.queryOffset(topic, key, maxNum, beginMs, endMs);
    const { indexLastUpdateTimestamp, indexLastUpdatePhyoffset } = hits;
    // Only hashes are indexed: strangers may use up the hits, so look further back.
    for (let round = 0; round < QUERY_ROUNDS_MAX; round++) {
      let oldestMs = endMs;
      for (const phyOffset of hits.phyOffsets) {
        if (records.has(phyOffset)) continue;
        const bytes = await this.selectOneMessageByOffset(phyOffset);
        if (bytes === undefined) continue;
        oldestMs = Math.min(oldestMs, storeTimestampIn(bytes));
        if (hasKey(bytes, topic, key)) records.set(phyOffset, bytes);
      }
      if (records.size > 0 || hits.phyOffsets.length === 0) break;
      if (oldestMs >= endMs || oldestMs < beginMs) break;
      endMs = oldestMs;
      hits = await this.index.queryOffset(topic, key, maxNum, beginMs, endMs);
    }
    const offsets = [...records.keys()].sort((a, b) => a - b);
    return {
      records: offsets.map((it) => records.get(it)!),
      indexLastUpdateTimestamp,
      indexLastUpdatePhyoffset,
    };
  }
}

function storeTimestampIn(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const position = storeTimestampPosition(view.getInt32(SYS_FLAG_POSITION));
  const high = view.getInt32(position);
  return high < 0 || high > 0x1f_ffff ? -1 : readInt64(view, position);
}

function hasKey(bytes: Uint8Array, topic: string, key: string): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const record = topicAndPropertiesOf(bytes, view, 0);
  if (record.topic !== topic) return false;
  const text = record.propertiesText;
  if (findProperty(text, MessageConst.UNIQ_KEY) === key) return true;
  const keys = findProperty(text, MessageConst.KEYS);
  return keys !== undefined && keys.split(" ").includes(key);
}
