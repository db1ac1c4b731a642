/** messageView: a stored message as people read it; used by the admin face and the tools. */
import type { MessageView } from "../admin/message_routes.ts";
import { plainBodyOf } from "../model/message_body.ts";
import type { MessageExt } from "../model/message_ext.ts";
import { encodeMessageId } from "../model/message_id.ts";
import { decodeProperties, MessageConst } from "../model/message_properties.ts";
import { formatSocketAddress } from "../model/socket_address.ts";

/** Bytes that a compressed body may take. */
const PLAIN_BODY_SIZE_MAX = 64 * 1024 * 1024;

/** Names things as Java's MessageExt does. */
export function messageView(
  message: MessageExt,
  plainBodySizeMax = PLAIN_BODY_SIZE_MAX,
): MessageView {
  const properties = Object.fromEntries(
    decodeProperties(message.propertiesText),
  );
  const offsetMsgId = encodeMessageId(message.storeHost, message.phyOffset);
  const { body, compression } = plainBodyOf(message, plainBodySizeMax);
  return {
    msgId: properties[MessageConst.UNIQ_KEY] ??
      offsetMsgId,
    offsetMsgId,
    topic: message.topic,
    queueId: message.queueId,
    queueOffset: message.queueOffset,
    commitLogOffset: message.phyOffset,
    storeSize: message.storeSize,
    bornTimestamp: message.bornTimestamp,
    bornHost: formatSocketAddress(message.bornHost),
    storeTimestamp: message.storeTimestamp,
    storeHost: formatSocketAddress(message.storeHost),
    reconsumeTimes: message.reconsumeTimes,
    sysFlag: message.sysFlag,
    properties,
    compression,
    bodySize: body.length,
    body,
  };
}
