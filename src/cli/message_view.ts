/** messageView: a stored message as people read it; used by the admin face and the tools. */
import type { MessageView } from "../admin/message_routes.ts";
import { inflate } from "../base/zlib.ts";
import type { MessageExt } from "../model/message_ext.ts";
import { encodeMessageId } from "../model/message_id.ts";
import { decodeProperties, MessageConst } from "../model/message_properties.ts";
import { MessageSysFlag } from "../model/message_sys_flag.ts";
import { formatSocketAddress } from "../model/socket_address.ts";

const INFLATED_SIZE_MAX = 64 * 1024 * 1024;
/** LZ4 and ZSTD (reference 1.6); 0 and ZLIB are zlib. */
const OTHER_COMPRESSIONS: ReadonlySet<number> = new Set([0x100, 0x200]);

/** Names things as Java's MessageExt does. */
export function messageView(message: MessageExt): MessageView {
  const properties = Object.fromEntries(
    decodeProperties(message.propertiesText),
  );
  const offsetMsgId = encodeMessageId(message.storeHost, message.phyOffset);
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
    body: plainBody(message),
  };
}

/** The body as it was sent, where that can be told. */
export function plainBody({ body, sysFlag }: MessageExt): Uint8Array {
  if ((sysFlag & MessageSysFlag.COMPRESSED) === 0) return body;
  const type = sysFlag & MessageSysFlag.COMPRESSION_TYPE_MASK;
  if (OTHER_COMPRESSIONS.has(type)) return body;
  try {
    return inflate(body, INFLATED_SIZE_MAX);
  } catch {
    return body; // Not what its flag says: shown as it is.
  }
}
