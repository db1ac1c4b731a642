/**
 * findNextRecord: where the log goes on behind a broken record.
 *
 * A record names its own CommitLog offset, so one that stands where it says it stands, with a
 * sound structure and body, is no accident.
 */
import { readInt64 } from "../base/int64.ts";
import {
  MESSAGE_MAGIC_CODE_V1,
  MESSAGE_MAGIC_CODE_V2,
  PHY_OFFSET_POSITION,
} from "../model/message_record.ts";
import type { CommitLog } from "./commit_log.ts";
import { RecordScan } from "./record_scan.ts";

const CHUNK_SIZE = 262_144;
/** First byte of both magic codes, looked for with the runtime's own search. */
const MAGIC_FIRST_BYTE = 0xda;
/** Bytes of a record needed to recognize it: up to the end of PHYSICALOFFSET. */
const HEAD_SIZE = PHY_OFFSET_POSITION + 8;

/** Offset of the next sound record behind `brokenOffset`, below `endOffset`; undefined if none. */
export function findNextRecord(
  log: CommitLog,
  brokenOffset: number,
  endOffset: number,
): number | undefined {
  let from = brokenOffset + 1;
  while (from < endOffset) {
    const fileEnd = Math.min(log.nextFileOffset(from), endOffset);
    const found = findInFile(log, from, fileEnd, endOffset);
    if (found !== undefined) return found;
    from = log.nextFileOffset(from);
  }
  return undefined;
}

function findInFile(
  log: CommitLog,
  from: number,
  fileEnd: number,
  endOffset: number,
): number | undefined {
  const chunk = new Uint8Array(Math.min(CHUNK_SIZE, fileEnd - from));
  // Chunks overlap by a head, so that none is cut in two.
  while (fileEnd - from >= HEAD_SIZE) {
    const bytes = chunk.subarray(0, Math.min(chunk.length, fileEnd - from));
    log.readAt(from, bytes);
    const found = findInChunk(log, bytes, from, endOffset);
    if (found !== undefined) return found;
    from += bytes.length - HEAD_SIZE + 1;
  }
  return undefined;
}

function findInChunk(
  log: CommitLog,
  bytes: Uint8Array,
  chunkOffset: number,
  endOffset: number,
): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const last = bytes.length - HEAD_SIZE;
  let at = bytes.indexOf(MAGIC_FIRST_BYTE, 4);
  for (
    ;
    at >= 0 && at - 4 <= last;
    at = bytes.indexOf(MAGIC_FIRST_BYTE, at + 1)
  ) {
    const start = at - 4;
    if (!isHeadOf(view, start, chunkOffset + start)) continue;
    const scan = new RecordScan(log, chunkOffset + start);
    if (scan.step(endOffset, true).kind === "record") return scan.offset;
  }
  return undefined;
}

function isHeadOf(view: DataView, start: number, phyOffset: number): boolean {
  const magic = view.getInt32(start + 4);
  if (magic !== MESSAGE_MAGIC_CODE_V1 && magic !== MESSAGE_MAGIC_CODE_V2) {
    return false;
  }
  const high = view.getInt32(start + PHY_OFFSET_POSITION);
  if (high < 0 || high > 0x1f_ffff) return false;
  return readInt64(view, start + PHY_OFFSET_POSITION) === phyOffset;
}
