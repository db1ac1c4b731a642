/**
 * Message record: one message in the CommitLog, on the HA link and in a pull
 * answer (reference 4.2). Offsets hold for IPv4 hosts; each IPv6 host in front
 * of a field moves it by 12.
 *
 * | offset | size | type  | field                     | note                        |
 * | -----: | ---: | ----- | ------------------------- | --------------------------- |
 * |      0 |    4 | i32   | totalSize                 | of the whole record         |
 * |      4 |    4 | i32   | magic                     | V1, V2 or blank             |
 * |      8 |    4 | i32   | bodyCrc                   | CRC-32 & 0x7fffffff         |
 * |     12 |    4 | i32   | queueId                   |                             |
 * |     16 |    4 | i32   | flag                      | the user's                  |
 * |     20 |    8 | i64   | queueOffset               |                             |
 * |     28 |    8 | i64   | phyOffset                 | its own CommitLog offset    |
 * |     36 |    4 | i32   | sysFlag                   | MessageSysFlag              |
 * |     40 |    8 | i64   | bornTimestamp             | ms                          |
 * |     48 |    8 | bytes | bornHost                  | 20 with BORNHOST_V6         |
 * |     56 |    8 | i64   | storeTimestamp            | ms                          |
 * |     64 |    8 | bytes | storeHost                 | 20 with STOREHOSTADDRESS_V6 |
 * |     72 |    4 | i32   | reconsumeTimes            |                             |
 * |     76 |    8 | i64   | preparedTransactionOffset |                             |
 * |     84 |    4 | i32   | bodySize                  | n                           |
 * |     88 |    n | bytes | body                      |                             |
 * |   88+n |    1 | u8    | topicSize                 | t; V2: u16, 2 bytes         |
 * |   89+n |    t | bytes | topic                     | UTF-8                       |
 * | 89+n+t |    2 | i16   | propertiesSize            | p                           |
 * | 91+n+t |    p | bytes | properties                | UTF-8                       |
 *
 * A blank marker fills the end of a file: size (with the marker), blank magic.
 * All integers are big-endian.
 */
import { crc32 } from "../base/crc32.ts";
import { readInt64 } from "../base/int64.ts";
import { CorruptRecordError } from "./corrupt_record_error.ts";
import type { MessageExt } from "./message_ext.ts";
import { MessageSysFlag } from "./message_sys_flag.ts";
import type { SocketAddress } from "./socket_address.ts";

export const MESSAGE_MAGIC_CODE_V1 = 0xdaa320a7 | 0;
export const MESSAGE_MAGIC_CODE_V2 = 0xdaa320ab | 0;
export const BLANK_MAGIC_CODE = 0xcbd43194 | 0;

/** Bytes of a V1 record with IPv4 hosts, empty body, topic and properties. */
export const RECORD_OVERHEAD_SIZE = 91;
/** Bytes of a blank marker; each file keeps room for one behind its last record. */
export const BLANK_MARKER_SIZE = 8;

export const QUEUE_OFFSET_POSITION = 20;
export const PHY_OFFSET_POSITION = 28;
export const SYS_FLAG_POSITION = 36;
export const BORN_HOST_POSITION = 48;

const decoder = new TextDecoder();
/** Longer topics are decoded each time. */
const TOPIC_KEPT_BYTES_MAX = 128;

/** TOTALSIZE of a record whose parts take so many bytes. */
export function recordSizeOf(
  sysFlag: number,
  bodySize: number,
  topicSize: number,
  propertiesSize: number,
  magic: number = MESSAGE_MAGIC_CODE_V1,
): number {
  return RECORD_OVERHEAD_SIZE + hostsExtraSize(sysFlag) + bodySize +
    topicSize + propertiesSize + (magic === MESSAGE_MAGIC_CODE_V2 ? 1 : 0);
}

function hostsExtraSize(sysFlag: number): number {
  return ((sysFlag & MessageSysFlag.BORNHOST_V6) !== 0 ? 12 : 0) +
    ((sysFlag & MessageSysFlag.STOREHOSTADDRESS_V6) !== 0 ? 12 : 0);
}

/** Where STORETIMESTAMP lies in a record with this sysFlag. */
export function storeTimestampPosition(sysFlag: number): number {
  return (sysFlag & MessageSysFlag.BORNHOST_V6) !== 0 ? 68 : 56;
}

/** What a look at one place of the log found. */
export type RecordCheck =
  | { readonly kind: "record"; readonly size: number }
  | { readonly kind: "blank"; readonly size: number }
  | { readonly kind: "incomplete" }
  | { readonly kind: "corrupt"; readonly reason: string };

const INCOMPLETE: RecordCheck = { kind: "incomplete" };

/** How strictly `checkMessageRecord` looks. */
export interface RecordCheckOptions {
  readonly checkCrc: boolean;
  /** What PHYSICALOFFSET must say; undefined accepts anything. */
  readonly phyOffset?: number;
}

/**
 * Judges the bytes at `position` by reference 5.5. `incomplete` when `limit`
 * comes before the record's end: a torn tail, or bytes still on their way.
 */
export function checkMessageRecord(
  bytes: Uint8Array,
  view: DataView,
  position: number,
  limit: number,
  options: RecordCheckOptions,
): RecordCheck {
  if (limit - position < BLANK_MARKER_SIZE) return INCOMPLETE;
  const size = view.getInt32(position);
  const magic = view.getInt32(position + 4);
  if (magic === BLANK_MAGIC_CODE) {
    if (size < BLANK_MARKER_SIZE) return corrupt(`its blank size is ${size}`);
    return { kind: "blank", size };
  }
  if (magic !== MESSAGE_MAGIC_CODE_V1 && magic !== MESSAGE_MAGIC_CODE_V2) {
    return corrupt(`its magic is 0x${(magic >>> 0).toString(16)}`);
  }
  if (size < RECORD_OVERHEAD_SIZE) return corrupt(`its size is ${size}`);
  if (limit - position < size) return INCOMPLETE;
  const reason = faultOf(bytes, view, position, size, magic, options);
  return reason === undefined ? { kind: "record", size } : corrupt(reason);
}

function corrupt(reason: string): RecordCheck {
  return { kind: "corrupt", reason };
}

/** Why the parts of a whole record do not add up; undefined when they do. */
function faultOf(
  bytes: Uint8Array,
  view: DataView,
  position: number,
  size: number,
  magic: number,
  options: RecordCheckOptions,
): string | undefined {
  const sysFlag = view.getInt32(position + SYS_FLAG_POSITION);
  const bodySizeAt = 84 + hostsExtraSize(sysFlag);
  const v2 = magic === MESSAGE_MAGIC_CODE_V2;
  const overhead = recordSizeOf(sysFlag, 0, 0, 0, magic);
  if (size < overhead) return `its size is ${size}, its parts take more`;
  const bodySize = view.getInt32(position + bodySizeAt);
  if (bodySize < 0 || bodySize > size - overhead) {
    return `its body size is ${bodySize}`;
  }
  const topicAt = position + bodySizeAt + 4 + bodySize;
  const topicSize = v2 ? view.getInt16(topicAt) : view.getUint8(topicAt);
  if (topicSize < 0 || topicSize > size - overhead - bodySize) {
    return `its topic size is ${topicSize}`;
  }
  const propertiesAt = topicAt + (v2 ? 2 : 1) + topicSize;
  const propertiesSize = view.getInt16(propertiesAt);
  if (propertiesSize !== size - overhead - bodySize - topicSize) {
    return `its properties size is ${propertiesSize}`;
  }
  // No text ends in a zero byte, and no CRC covers topic and properties: a torn write.
  if (
    (topicSize > 0 && bytes[propertiesAt - 1] === 0) ||
    (propertiesSize > 0 && bytes[position + size - 1] === 0)
  ) return "its topic or properties end in zeros";
  if (!hasSafeIntegers(view, position, bodySizeAt)) {
    return "one of its 64-bit fields is out of range";
  }
  if (
    options.phyOffset !== undefined &&
    readInt64(view, position + PHY_OFFSET_POSITION) !== options.phyOffset
  ) return "its own offset says another place";
  if (options.checkCrc && bodySize > 0) {
    const bodyAt = position + bodySizeAt + 4;
    const crc = crc32(bytes.subarray(bodyAt, bodyAt + bodySize));
    if (crc !== view.getInt32(position + 8)) return "its body CRC is wrong";
  }
  return undefined;
}

/** True when every i64 of the record fits 53 bits: the CRC covers the body only. */
function hasSafeIntegers(
  view: DataView,
  position: number,
  bodySizeAt: number,
): boolean {
  const sysFlag = view.getInt32(position + SYS_FLAG_POSITION);
  return isSafe(view, position + QUEUE_OFFSET_POSITION) &&
    isSafe(view, position + PHY_OFFSET_POSITION) &&
    isSafe(view, position + 40) &&
    isSafe(view, position + storeTimestampPosition(sysFlag)) &&
    isSafe(view, position + bodySizeAt - 8);
}

function isSafe(view: DataView, at: number): boolean {
  const high = view.getInt32(at);
  return high <= 0x1f_ffff && high >= -0x20_0000;
}

/** Where the parts of a record lie, as positions in the array. */
interface RecordParts {
  readonly size: number;
  readonly sysFlag: number;
  readonly bodyAt: number;
  readonly topicAt: number;
  readonly propertiesSizeAt: number;
}

function partsOf(
  bytes: Uint8Array,
  view: DataView,
  position: number,
): RecordParts {
  const check = checkMessageRecord(bytes, view, position, bytes.length, {
    checkCrc: false,
  });
  if (check.kind !== "record") {
    throw new CorruptRecordError(
      `Cannot decode record at byte ${position}: ${
        check.kind === "corrupt" ? check.reason : `it is ${check.kind}`
      }`,
    );
  }
  return soundPartsOf(view, position, check.size);
}

/** The same of a record that has been checked. */
function soundPartsOf(
  view: DataView,
  position: number,
  size: number,
): RecordParts {
  const sysFlag = view.getInt32(position + SYS_FLAG_POSITION);
  const bodyAt = position + 88 + hostsExtraSize(sysFlag);
  const topicSizeAt = bodyAt + view.getInt32(bodyAt - 4);
  const v2 = view.getInt32(position + 4) === MESSAGE_MAGIC_CODE_V2;
  const topicAt = topicSizeAt + (v2 ? 2 : 1);
  const topicSize = v2
    ? view.getInt16(topicSizeAt)
    : view.getUint8(topicSizeAt);
  return {
    size,
    sysFlag,
    bodyAt,
    topicAt,
    propertiesSizeAt: topicAt + topicSize,
  };
}

/**
 * The record at `position`; `body` is a view of `bytes`. The body's CRC is not
 * checked here. Throws `CorruptRecordError`.
 */
export function decodeMessageRecord(
  bytes: Uint8Array,
  position = 0,
): MessageExt {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const parts = partsOf(bytes, view, position);
  const { sysFlag, bodyAt, topicAt, propertiesSizeAt } = parts;
  const storeAt = position + storeTimestampPosition(sysFlag);
  const integers = integersOf(view, position, bodyAt, storeAt);
  return {
    ...integers,
    topic: decoder.decode(bytes.subarray(topicAt, propertiesSizeAt)),
    storeSize: parts.size,
    sysFlag,
    body: bytes.subarray(bodyAt, bodyAt + view.getInt32(bodyAt - 4)),
    bornHost: hostAt(
      bytes,
      view,
      position + BORN_HOST_POSITION,
      (sysFlag & MessageSysFlag.BORNHOST_V6) !== 0,
    ),
    storeHost: hostAt(
      bytes,
      view,
      storeAt + 8,
      (sysFlag & MessageSysFlag.STOREHOSTADDRESS_V6) !== 0,
    ),
    propertiesText: propertiesAt(bytes, view, propertiesSizeAt),
  };
}

function integersOf(
  view: DataView,
  position: number,
  bodyAt: number,
  storeAt: number,
) {
  return {
    bodyCrc: view.getInt32(position + 8),
    queueId: view.getInt32(position + 12),
    flag: view.getInt32(position + 16),
    queueOffset: readInt64(view, position + QUEUE_OFFSET_POSITION),
    phyOffset: readInt64(view, position + PHY_OFFSET_POSITION),
    bornTimestamp: readInt64(view, position + 40),
    storeTimestamp: readInt64(view, storeAt),
    reconsumeTimes: view.getInt32(bodyAt - 16),
    preparedTransactionOffset: readInt64(view, bodyAt - 12),
  };
}

function hostAt(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  v6: boolean,
): SocketAddress {
  const end = at + (v6 ? 16 : 4);
  return { address: bytes.slice(at, end), port: view.getInt32(end) };
}

function propertiesAt(
  bytes: Uint8Array,
  view: DataView,
  sizeAt: number,
): string {
  const size = view.getInt16(sizeAt);
  return size === 0
    ? ""
    : decoder.decode(bytes.subarray(sizeAt + 2, sizeAt + 2 + size));
}

/** The encoded properties of the record at `position`; throws `CorruptRecordError`. */
export function propertiesTextOf(
  bytes: Uint8Array,
  view: DataView,
  position: number,
): string {
  const parts = partsOf(bytes, view, position);
  return propertiesAt(bytes, view, parts.propertiesSizeAt);
}

/**
 * The topic and encoded properties of the record at `position`, which `checkMessageRecord` has
 * found sound: dispatch looks at every record once already.
 */
export function topicAndPropertiesOf(
  bytes: Uint8Array,
  view: DataView,
  position: number,
): { topic: string; propertiesText: string } {
  const size = view.getInt32(position);
  const parts = soundPartsOf(view, position, size);
  const { topicAt, propertiesSizeAt } = parts;
  return {
    topic: topicOf(bytes, topicAt, propertiesSizeAt),
    propertiesText: propertiesAt(bytes, view, propertiesSizeAt),
  };
}

const lastTopicBytes = new Uint8Array(TOPIC_KEPT_BYTES_MAX);
let lastTopicSize = 0;
let lastTopic = "";

/** Consecutive records are often of one topic: comparing bytes is cheaper than decoding them. */
function topicOf(bytes: Uint8Array, from: number, to: number): string {
  const size = to - from;
  if (size === lastTopicSize) {
    let same = 0;
    while (same < size && bytes[from + same] === lastTopicBytes[same]) same++;
    if (same === size) return lastTopic;
  }
  const encoded = bytes.subarray(from, to);
  const topic = decoder.decode(encoded);
  if (size <= TOPIC_KEPT_BYTES_MAX) {
    lastTopicBytes.set(encoded);
    lastTopicSize = size;
    lastTopic = topic;
  }
  return topic;
}
