/** ConsumedMessage: a record as an application sees it. */
import { plainBodyOf } from "../model/message_body.ts";
import type { MessageExt } from "../model/message_ext.ts";
import { encodeMessageId } from "../model/message_id.ts";
import {
  decodeProperties,
  findProperty,
  MessageConst,
} from "../model/message_properties.ts";
import { decodeMessageRecord } from "../model/message_record.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";

/** Bytes that a compressed body may take. */
const INFLATED_BODY_SIZE_MAX = 64 * 1024 * 1024;

/** One message, its texts read when asked for. */
export class ConsumedMessage {
  readonly record: MessageExt;
  /** As it was sent; as stored where that cannot be told, see `compression`. */
  readonly body: Uint8Array;
  /** What `body` still is packed with, as it is broken or too large; else null. */
  readonly compression: string | null;

  constructor(record: MessageExt) {
    this.record = record;
    // One that cannot be unpacked must not hold up the queue behind it.
    const { body, compression } = plainBodyOf(record, INFLATED_BODY_SIZE_MAX);
    this.body = body;
    this.compression = compression;
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
