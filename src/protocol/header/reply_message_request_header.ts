/** The request header of PUSH_REPLY_MESSAGE_TO_CLIENT (326), reference 2.2. */
import {
  formatSocketAddress,
  type SocketAddress,
} from "../../model/socket_address.ts";
import type { ExtFields } from "../remoting_command.ts";
import type { SendMessageRequestHeader } from "./send_message_request_header.ts";

/** A reply as its sender gave it, and where it came through. */
export interface ReplyMessageRequestHeader {
  readonly sent: SendMessageRequestHeader;
  /** With PUSH_REPLY_TIME. */
  readonly properties: string;
  readonly bornHost: SocketAddress;
  readonly storeHost: SocketAddress;
  /** Wall clock, milliseconds. */
  readonly storeTimestamp: number;
}

/** The ext fields. */
export function encodeReplyMessageRequestHeader(
  { bornHost, properties, sent, storeHost, storeTimestamp }:
    ReplyMessageRequestHeader,
): ExtFields {
  return {
    producerGroup: sent.producerGroup,
    topic: sent.topic,
    defaultTopic: sent.defaultTopic,
    defaultTopicQueueNums: String(sent.defaultTopicQueueNums),
    queueId: String(sent.queueId),
    sysFlag: String(sent.sysFlag),
    bornTimestamp: String(sent.bornTimestamp),
    flag: String(sent.flag),
    properties,
    reconsumeTimes: String(sent.reconsumeTimes),
    unitMode: String(sent.unitMode),
    bornHost: formatSocketAddress(bornHost),
    storeHost: formatSocketAddress(storeHost),
    storeTimestamp: String(storeTimestamp),
  };
}
