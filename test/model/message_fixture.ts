/** Messages for tests of codecs and of the store. */
import type { MessageExtBrokerInner } from "../../src/model/message_ext.ts";
import { parseSocketAddress } from "../../src/model/socket_address.ts";
import { MessageRecordEncoder } from "../../src/model/message_record_encoder.ts";

/** The message of Appendix A, with `changes`. */
export function brokerInner(
  changes: Partial<MessageExtBrokerInner> = {},
): MessageExtBrokerInner {
  return {
    topic: "TopicTest",
    queueId: 3,
    flag: 0,
    sysFlag: 0,
    body: new TextEncoder().encode("hello"),
    bornTimestamp: 1_700_000_000_000,
    bornHost: parseSocketAddress("10.0.0.1:50000")!,
    storeHost: parseSocketAddress("10.0.0.2:10911")!,
    reconsumeTimes: 0,
    preparedTransactionOffset: 0,
    propertiesText: "TAGS\u0001TagA\u0002WAIT\u0001true\u0002",
    tagsCode: 2_598_919,
    waitStoreMsgOk: true,
    ...changes,
  };
}

/** One stamped record. */
export function encodeRecord(
  message: MessageExtBrokerInner,
  queueOffset: number,
  phyOffset: number,
  storeTimestamp: number,
): Uint8Array {
  const encoder = new MessageRecordEncoder();
  const size = encoder.encode(
    0,
    message,
    message.flag,
    message.body,
    message.propertiesText,
  );
  encoder.stamp(0, queueOffset, phyOffset, storeTimestamp);
  return encoder.bytes.slice(0, size);
}

/** Lower-case hex of `bytes`. */
export function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((it) => it.toString(16).padStart(2, "0")).join("");
}
