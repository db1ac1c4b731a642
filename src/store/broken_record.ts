/** What can still be read of a record that is not sound: whose it was. */
import { readInt64 } from "../base/int64.ts";
import {
  MESSAGE_MAGIC_CODE_V1,
  MESSAGE_MAGIC_CODE_V2,
  PHY_OFFSET_POSITION,
  QUEUE_OFFSET_POSITION,
  SYS_FLAG_POSITION,
} from "../model/message_record.ts";
import { MessageSysFlag } from "../model/message_sys_flag.ts";

const HEAD_SIZE = 112;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** A place in a queue. */
export interface BrokenRecord {
  /** Null when it cannot be read. */
  readonly topic: string | null;
  readonly queueId: number;
  readonly queueOffset: number;
}

/**
 * Looks at the bytes at `position`, of which those below `limit` are there. Null unless magic
 * and PHYSICALOFFSET are those of a record at `phyOffset`.
 */
export function readBrokenRecord(
  bytes: Uint8Array,
  view: DataView,
  position: number,
  limit: number,
  phyOffset: number,
): BrokenRecord | null {
  if (limit - position < HEAD_SIZE) return null;
  const magic = view.getInt32(position + 4);
  const isV2 = magic === MESSAGE_MAGIC_CODE_V2;
  if (!isV2 && magic !== MESSAGE_MAGIC_CODE_V1) return null;
  if (view.getBigInt64(position + PHY_OFFSET_POSITION) !== BigInt(phyOffset)) {
    return null;
  }
  const high = view.getInt32(position + QUEUE_OFFSET_POSITION);
  if (high < 0 || high > 0x1f_ffff) return null;
  const sysFlag = view.getInt32(position + SYS_FLAG_POSITION);
  const topicAt = topicSizeAt(view, position, sysFlag);
  return {
    topic: topicAt === undefined ? null : topicAtOf(bytes, view, {
      at: topicAt,
      limit,
      isV2,
    }),
    queueId: view.getInt32(position + 12),
    queueOffset: readInt64(view, position + QUEUE_OFFSET_POSITION),
  };
}

function topicSizeAt(
  view: DataView,
  position: number,
  sysFlag: number,
): number | undefined {
  const hosts = ((sysFlag & MessageSysFlag.BORNHOST_V6) !== 0 ? 12 : 0) +
    ((sysFlag & MessageSysFlag.STOREHOSTADDRESS_V6) !== 0 ? 12 : 0);
  const bodySize = view.getInt32(position + 84 + hosts);
  return bodySize < 0 ? undefined : position + 88 + hosts + bodySize;
}

function topicAtOf(
  bytes: Uint8Array,
  view: DataView,
  { at, limit, isV2 }: { at: number; limit: number; isV2: boolean },
): string | null {
  const from = at + (isV2 ? 2 : 1);
  if (from > limit) return null;
  const size = isV2 ? view.getInt16(at) : view.getUint8(at);
  if (size <= 0 || from + size > limit) return null;
  try {
    const topic = decoder.decode(bytes.subarray(from, from + size));
    // deno-lint-ignore no-control-regex -- Garbage is no name.
    return /[\u0000-\u001f\u007f]/.test(topic) ? null : topic;
  } catch {
    return null;
  }
}
