/** What a Java client of 5.x makes of the answer to a POP. */
import { assertEquals } from "@std/assert";
import { encodeExtraInfo } from "../../src/broker/pop/extra_info.ts";
import type { MessageExt } from "../../src/model/message_ext.ts";
import { decodeProperties } from "../../src/model/message_properties.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { popRetryTopicOf } from "../../src/model/pop_retry_topic.ts";
import type {
  ExtFields,
  RemotingCommand,
} from "../../src/protocol/remoting_command.ts";

/** A popped message with what its consumer needs to answer. */
export interface Popped {
  readonly text: string;
  readonly reconsumeTimes: number;
  readonly group: string;
  /** Where it is acknowledged. */
  readonly topic: string;
  readonly queueId: number;
  readonly offset: number;
  readonly extraInfo: string;
  readonly message: MessageExt;
}

const decoder = new TextDecoder();

/** The header that acknowledges a message. */
export function ackFields(it: Popped): ExtFields {
  return {
    consumerGroup: it.group,
    topic: it.topic,
    queueId: String(it.queueId),
    extraInfo: it.extraInfo,
    offset: String(it.offset),
  };
}

/** The messages of an answer; none unless it is a success. */
export function poppedOf(
  { body, code, extFields }: RemotingCommand,
  group = "g",
): Popped[] {
  if (code !== 0) return [];
  const starts = new Map(
    extFields["startOffsetInfo"]!.split(";").map((it) => {
      const [type, queueId, start] = it.split(" ");
      return [`${type} ${queueId}`, Number(start)];
    }),
  );
  const all: Popped[] = [];
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  for (let position = 0; position < body.length;) {
    const message = decodeMessageRecord(body, position);
    position += view.getInt32(position);
    all.push(poppedFrom(message, group, extFields, starts));
  }
  const told = extFields["msgOffsetInfo"]!.split(";").flatMap((it) =>
    it.split(" ")[2]!.split(",").map(Number)
  );
  assertEquals(told, all.map((it) => it.offset));
  return all;
}

function poppedFrom(
  message: MessageExt,
  group: string,
  extFields: ExtFields,
  starts: ReadonlyMap<string, number>,
): Popped {
  const { queueId, queueOffset, reconsumeTimes } = message;
  const handle = decodeProperties(message.propertiesText).get("POP_CK");
  const extraInfo = handle ?? encodeExtraInfo(
    {
      startOffset: starts.get(`0 ${queueId}`)!,
      popTime: Number(extFields["popTime"]),
      invisibleTime: Number(extFields["invisibleTime"]),
      reviveQueueId: Number(extFields["reviveQid"]),
      brokerName: "broker-a",
    },
    message.topic,
    queueId,
    queueOffset,
  );
  const [, , , , type] = extraInfo.split(" ");
  return {
    text: decoder.decode(message.body),
    reconsumeTimes,
    group,
    topic: type === "0"
      ? message.topic
      : popRetryTopicOf(message.topic, group, type === "2"),
    queueId,
    offset: queueOffset,
    extraInfo,
    message,
  };
}
