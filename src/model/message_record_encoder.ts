/**
 * MessageRecordEncoder: writes records (layout in message_record.ts) into one
 * scratch array that lives as long as the encoder.
 *
 * Invariants
 * - `encode` leaves QUEUEOFFSET, PHYSICALOFFSET and STORETIMESTAMP undefined:
 *   they are known only when the append happens, and `stamp` fills them in.
 * - What lies in `bytes` is valid until the next `encode` at position 0.
 */
import { crc32 } from "../base/crc32.ts";
import { writeInt64 } from "../base/int64.ts";
import { utf8SizeOf, writeUtf8 } from "../base/utf8.ts";
import type { MessageExtBrokerInner } from "./message_ext.ts";
import { PROPERTIES_SIZE_MAX } from "./message_properties.ts";
import {
  BORN_HOST_POSITION,
  MESSAGE_MAGIC_CODE_V1,
  MESSAGE_MAGIC_CODE_V2,
  PHY_OFFSET_POSITION,
  QUEUE_OFFSET_POSITION,
  RECORD_OVERHEAD_SIZE,
  storeTimestampPosition,
  SYS_FLAG_POSITION,
} from "./message_record.ts";
import { MessageSysFlag } from "./message_sys_flag.ts";
import type { SocketAddress } from "./socket_address.ts";

const V6_BITS = MessageSysFlag.BORNHOST_V6 | MessageSysFlag.STOREHOSTADDRESS_V6;
/** Scratch sizes above this are given back by `shrink`. */
const SCRATCH_KEEP_BYTES = 1_048_576;
/** `encode` returns it when the properties exceed their int16. */
export const PROPERTIES_TOO_LONG = -1;

/** The sysFlag as stored: its IPv6 bits say what the hosts are. */
export function recordSysFlag(message: MessageExtBrokerInner): number {
  let sysFlag = message.sysFlag & ~V6_BITS;
  if (message.bornHost.address.length === 16) {
    sysFlag |= MessageSysFlag.BORNHOST_V6;
  }
  if (message.storeHost.address.length === 16) {
    sysFlag |= MessageSysFlag.STOREHOSTADDRESS_V6;
  }
  return sysFlag;
}

/** Encodes records one behind the other. */
export class MessageRecordEncoder {
  bytes: Uint8Array = new Uint8Array(65_536);
  view: DataView = new DataView(this.bytes.buffer);

  /**
   * Writes one record at `position` and returns its size, or
   * `PROPERTIES_TOO_LONG`. Body and texts come from the arguments, the rest
   * from `message`: the entries of a batch share it.
   */
  encode(
    position: number,
    message: MessageExtBrokerInner,
    flag: number,
    body: Uint8Array,
    propertiesText: string,
  ): number {
    const { topic } = message;
    const bodySize = body.length;
    this.#reserve(
      position + RECORD_OVERHEAD_SIZE + 25 + bodySize +
        3 * (topic.length + propertiesText.length),
    );
    const { bytes, view } = this;
    const sysFlag = recordSysFlag(message);
    // A topic of up to 42 units takes at most 126 bytes.
    const v2 = topic.length > 42 && utf8SizeOf(topic) > 127;
    view.setInt32(
      position + 4,
      v2 ? MESSAGE_MAGIC_CODE_V2 : MESSAGE_MAGIC_CODE_V1,
    );
    view.setInt32(position + 8, bodySize === 0 ? 0 : crc32(body));
    view.setInt32(position + 12, message.queueId);
    view.setInt32(position + 16, flag);
    view.setInt32(position + SYS_FLAG_POSITION, sysFlag);
    writeInt64(view, position + 40, message.bornTimestamp);
    let at = this.#writeHost(position + BORN_HOST_POSITION, message.bornHost);
    at = this.#writeHost(at + 8, message.storeHost);
    view.setInt32(at, message.reconsumeTimes);
    writeInt64(view, at + 4, message.preparedTransactionOffset);
    view.setInt32(at + 12, bodySize);
    bytes.set(body, at + 16);
    at += 16 + bodySize;
    const topicAt = at + (v2 ? 2 : 1);
    at = writeUtf8(bytes, topicAt, topic);
    if (v2) view.setInt16(topicAt - 2, at - topicAt);
    else bytes[topicAt - 1] = at - topicAt;
    const end = writeUtf8(bytes, at + 2, propertiesText);
    const propertiesSize = end - at - 2;
    if (propertiesSize > PROPERTIES_SIZE_MAX) return PROPERTIES_TOO_LONG;
    view.setInt16(at, propertiesSize);
    view.setInt32(position, end - position);
    return end - position;
  }

  /** Fills in what is known only at the append. */
  stamp(
    position: number,
    queueOffset: number,
    phyOffset: number,
    storeTimestamp: number,
  ): void {
    const { view } = this;
    const sysFlag = view.getInt32(position + SYS_FLAG_POSITION);
    writeInt64(view, position + QUEUE_OFFSET_POSITION, queueOffset);
    writeInt64(view, position + PHY_OFFSET_POSITION, phyOffset);
    writeInt64(
      view,
      position + storeTimestampPosition(sysFlag),
      storeTimestamp,
    );
  }

  /** Gives back a scratch array that one large message has blown up. */
  shrink(): void {
    if (this.bytes.length > SCRATCH_KEEP_BYTES) {
      this.bytes = new Uint8Array(65_536);
      this.view = new DataView(this.bytes.buffer);
    }
  }

  #writeHost(position: number, host: SocketAddress): number {
    const { bytes } = this;
    const { address } = host;
    for (let index = 0; index < address.length; index++) {
      bytes[position + index] = address[index]!;
    }
    const end = position + address.length;
    this.view.setInt32(end, host.port);
    return end + 4;
  }

  #reserve(size: number): void {
    if (size <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(size, this.bytes.length * 2));
    grown.set(this.bytes);
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }
}
