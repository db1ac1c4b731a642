/** ConsumedMessage: a record as an application sees it. */
import { inflate, ZlibError } from "../base/zlib.ts";
import type { MessageExt } from "../model/message_ext.ts";
import { encodeMessageId } from "../model/message_id.ts";
import {
  decodeProperties,
  findProperty,
  MessageConst,
} from "../model/message_properties.ts";
import { decodeMessageRecord } from "../model/message_record.ts";
import { MessageSysFlag } from "../model/message_sys_flag.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";

/** Bytes that a compressed body may take. */
const INFLATED_BODY_SIZE_MAX = 64 * 1024 * 1024;
/** Compression types of sysFlag bits 8 to 10 (reference 3.3). */
const COMPRESSION_TYPES: Readonly<Record<number, string>> = {
  0x100: "LZ4",
  0x200: "ZSTD",
};

/** One message, its texts read when asked for. */
export class ConsumedMessage {
  readonly record: MessageExt;
  /** Inflated where it was zlib; else as stored, see `compression`. */
  readonly body: Uint8Array;
  /** What `body` still is packed with: LZ4, ZSTD, or ZLIB when that is broken; else null. */
  readonly compression: string | null;

  constructor(record: MessageExt) {
    this.record = record;
    const isCompressed = (record.sysFlag & MessageSysFlag.COMPRESSED) !== 0;
    const unpacked = isCompressed ? unpack(record) : { body: record.body };
    this.body = unpacked.body;
    this.compression = unpacked.compression ?? null;
  }

  /** The original topic, also of a message that came by the retry topic. */
  get topic(): string {
    return this.property(MessageConst.RETRY_TOPIC) ?? this.record.topic;
  }

  get tags(): string | undefined {
    return this.property(MessageConst.TAGS);
  }

  get keys(): string[] {
    return this.property(MessageConst.KEYS)?.split(" ") ?? [];
  }

  /** UNIQ_KEY, else the offset id. */
  get msgId(): string {
    return this.property(MessageConst.UNIQ_KEY) ?? this.offsetMsgId;
  }

  get offsetMsgId(): string {
    return encodeMessageId(this.record.storeHost, this.record.phyOffset);
  }

  get queueOffset(): number {
    return this.record.queueOffset;
  }

  get properties(): Map<string, string> {
    return decodeProperties(this.record.propertiesText);
  }

  property(name: string): string | undefined {
    return findProperty(this.record.propertiesText, name);
  }
}

/** A body that cannot be unpacked must not hold up the queue behind it. */
function unpack(
  { body, sysFlag }: MessageExt,
): { body: Uint8Array; compression?: string } {
  const compression =
    COMPRESSION_TYPES[sysFlag & MessageSysFlag.COMPRESSION_TYPE_MASK];
  if (compression !== undefined) return { body, compression };
  try {
    return { body: inflate(body, INFLATED_BODY_SIZE_MAX) };
  } catch (error) {
    if (!(error instanceof ZlibError)) throw error;
    return { body, compression: "ZLIB" };
  }
}

/** The records of a pull's or a query's body, back to back. Throws `CorruptRecordError`. */
export function decodeRecords(body: Uint8Array): MessageExt[] {
  const records: MessageExt[] = [];
  for (let position = 0; position < body.length;) {
    const record = decodeMessageRecord(body, position);
    records.push(record);
    position += record.storeSize;
  }
  return records;
}

/** The tag's own text decides: brokers compare only its hash. */
export function isWanted(
  record: MessageExt,
  subscription: SubscriptionData,
): boolean {
  if (subscription.tagsSet.length === 0 || subscription.classFilterMode) {
    return true;
  }
  const tags = findProperty(record.propertiesText, MessageConst.TAGS);
  return tags !== undefined && subscription.tagsSet.includes(tags);
}
