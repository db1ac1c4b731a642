/** What dispatch needs of a record, read from the CommitLog's bytes. */
import { readInt64 } from "../base/int64.ts";
import { javaHashCode } from "../base/java_hash.ts";
import { findProperty, MessageConst } from "../model/message_properties.ts";
import {
  PHY_OFFSET_POSITION,
  QUEUE_OFFSET_POSITION,
  storeTimestampPosition,
  SYS_FLAG_POSITION,
  topicAndPropertiesOf,
} from "../model/message_record.ts";
import { MessageSysFlag } from "../model/message_sys_flag.ts";
import { type DelayLevelTable, SCHEDULE_TOPIC } from "./delay_level_table.ts";
import type { DispatchRequest } from "./dispatch_request.ts";

/** True for topics whose units hold a time instead of the hash of a tag. */
export function isTimed(topic: string): boolean {
  return topic === SCHEDULE_TOPIC;
}

/** The tags code of a unit: hash of the tag, or the delivery time of a delayed message. */
export function tagsCodeOf(
  topic: string,
  propertiesText: string,
  storeTimestamp: number,
  delayLevels: DelayLevelTable,
): number {
  if (topic === SCHEDULE_TOPIC) {
    const due = delayLevels.scheduleTagsCode(propertiesText, storeTimestamp);
    if (due !== undefined) return due;
  }
  const tags = findProperty(propertiesText, MessageConst.TAGS);
  return tags === undefined ? 0 : javaHashCode(tags);
}

/** True for the transaction types that get no ConsumeQueue unit and no queue offset. */
export function isWithoutQueueOffset(sysFlag: number): boolean {
  const type = sysFlag & MessageSysFlag.TRANSACTION_MASK;
  return type === MessageSysFlag.TRANSACTION_PREPARED_TYPE ||
    type === MessageSysFlag.TRANSACTION_ROLLBACK_TYPE;
}

/** Reads the record at `position`, which `checkMessageRecord` has found sound. */
export function decodeDispatchRequest(
  bytes: Uint8Array,
  view: DataView,
  position: number,
  delayLevels: DelayLevelTable,
): DispatchRequest {
  const sysFlag = view.getInt32(position + SYS_FLAG_POSITION);
  const storeAt = position + storeTimestampPosition(sysFlag);
  const storeTimestamp = readInt64(view, storeAt);
  const storeHostSize = (sysFlag & MessageSysFlag.STOREHOSTADDRESS_V6) !== 0
    ? 20
    : 8;
  const { topic, propertiesText } = topicAndPropertiesOf(bytes, view, position);
  return {
    topic,
    queueId: view.getInt32(position + 12),
    phyOffset: readInt64(view, position + PHY_OFFSET_POSITION),
    size: view.getInt32(position),
    tagsCode: tagsCodeOf(topic, propertiesText, storeTimestamp, delayLevels),
    storeTimestamp,
    queueOffset: readInt64(view, position + QUEUE_OFFSET_POSITION),
    sysFlag,
    preparedTransactionOffset: readInt64(
      view,
      storeAt + 8 + storeHostSize + 4,
    ),
    propertiesText,
  };
}
