/** PopResponse: the answer to a POP that found messages. */
import { CorruptRecordError } from "../../model/corrupt_record_error.ts";
import {
  decodeProperties,
  encodeProperties,
} from "../../model/message_properties.ts";
import { decodeMessageRecord } from "../../model/message_record.ts";
import { MessageRecordEncoder } from "../../model/message_record_encoder.ts";
import { isRetryTopic } from "../../model/topic_names.ts";
import type { ExtFields } from "../../protocol/remoting_command.ts";
import { encodePopMessageResponseHeader } from "../../protocol/header/pop_message_header.ts";
import {
  encodeExtraInfo,
  msgOffsetInfo,
  startOffsetInfo,
} from "./extra_info.ts";
import type { PopTake, PopWork } from "./pop_queues.ts";
import { positionsOf } from "./pop_records.ts";

/** Property of a popped message that carries its handle. */
const POP_CK = "POP_CK";

/** The header fields. */
export function popResponseFields(work: PopWork): ExtFields {
  const { header, takes } = work;
  const orderCounts = takes.flatMap((it) => it.orderCounts ?? []);
  return encodePopMessageResponseHeader({
    popTime: work.popTime,
    invisibleTime: header.invisibleTime,
    reviveQid: work.reviveQueueId,
    restNum: work.restNum,
    startOffsetInfo: takes.map((it) =>
      startOffsetInfo(it.topic, it.queueId, it.startOffset)
    ).join(";"),
    msgOffsetInfo: takes.map((it) =>
      msgOffsetInfo(it.topic, it.queueId, it.offsets)
    ).join(";"),
    orderCountInfo: header.order ? orderCounts.join(";") : undefined,
  });
}

/** The records; those of a retry topic under the name of the topic, and with their handles. */
export function popResponseBody(
  work: PopWork,
  brokerName: string,
  keepsRetryTopic: boolean,
): Uint8Array {
  const bodies = work.takes.map((it) =>
    keepsRetryTopic || !isRetryTopic(it.topic)
      ? it.body
      : withNormalTopic(work, it, brokerName)
  );
  if (bodies.length === 1) return bodies[0]!;
  const size = bodies.reduce((sum, it) => sum + it.length, 0);
  const all = new Uint8Array(size);
  let position = 0;
  for (const it of bodies) {
    all.set(it, position);
    position += it.length;
  }
  return all;
}

function withNormalTopic(
  { header, popTime, reviveQueueId }: PopWork,
  take: PopTake,
  brokerName: string,
): Uint8Array {
  const encoder = new MessageRecordEncoder();
  let end = 0;
  for (const [position, size, queueOffset] of positionsOf(take.body)) {
    const record = take.body.subarray(position, position + size);
    const message = decoded(record);
    if (message === null) continue;
    const properties = decodeProperties(message.propertiesText);
    properties.set(
      POP_CK,
      encodeExtraInfo(
        {
          startOffset: take.startOffset,
          popTime,
          invisibleTime: header.invisibleTime,
          reviveQueueId,
          brokerName,
        },
        take.topic,
        take.queueId,
        queueOffset,
      ),
    );
    const inner = {
      ...message,
      topic: header.topic,
      tagsCode: 0,
      waitStoreMsgOk: false,
    };
    const written = encoder.encode(
      end,
      inner,
      message.flag,
      message.body,
      encodeProperties(properties),
    );
    encoder.stamp(end, queueOffset, message.phyOffset, message.storeTimestamp);
    end += written;
  }
  return encoder.bytes.slice(0, end);
}

/** Null for a record that nobody can read: the client could not either. */
function decoded(record: Uint8Array) {
  try {
    return decodeMessageRecord(record);
  } catch (error) {
    if (!(error instanceof CorruptRecordError)) throw error;
    return null;
  }
}
