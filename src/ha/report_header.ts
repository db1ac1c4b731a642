/**
 * ReportHeader: slave to master; the first one asks, every one acknowledges (reference 7.2).
 *
 * | offset | size | type | field          | note                                      |
 * | -----: | ---: | ---- | -------------- | ----------------------------------------- |
 * |      0 |    8 | i64  | slaveMaxOffset | end of the slave's CommitLog; 0: it is empty |
 *
 * Big-endian. A master that finds several uses the last whole one.
 */
import { writeInt64 } from "../base/int64.ts";
import { decodeOffset } from "./transfer_header.ts";

export const REPORT_HEADER_SIZE = 8;

/** What a slave says. */
export interface ReportHeader {
  readonly slaveMaxOffset: number;
}

export function encodeReportHeader(header: ReportHeader): Uint8Array {
  const bytes = new Uint8Array(REPORT_HEADER_SIZE);
  writeInt64(new DataView(bytes.buffer), 0, header.slaveMaxOffset);
  return bytes;
}

/**
 * Undefined while `bytes` is shorter than a report. Throws `HAFrameError` for an offset that
 * is negative or beyond 2^53-1.
 */
export function decodeReportHeader(
  bytes: Uint8Array,
): ReportHeader | undefined {
  if (bytes.length < REPORT_HEADER_SIZE) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    slaveMaxOffset: decodeOffset(view, "ReportHeader: slaveMaxOffset"),
  };
}

/** Finds reports in a stream that is cut anywhere. */
export class ReportDecoder {
  readonly #partial = new Uint8Array(REPORT_HEADER_SIZE);
  #partialSize = 0;

  /** Calls `onReport` for each whole report, in order. Throws `HAFrameError`. */
  push(bytes: Uint8Array, onReport: (slaveMaxOffset: number) => void): void {
    for (let from = 0; from < bytes.length;) {
      const to = Math.min(
        bytes.length,
        from + REPORT_HEADER_SIZE - this.#partialSize,
      );
      this.#partial.set(bytes.subarray(from, to), this.#partialSize);
      this.#partialSize += to - from;
      from = to;
      if (this.#partialSize < REPORT_HEADER_SIZE) return;
      this.#partialSize = 0;
      onReport(decodeReportHeader(this.#partial)!.slaveMaxOffset);
    }
  }
}
