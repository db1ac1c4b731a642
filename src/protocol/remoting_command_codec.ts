/** RemotingCommand to frame and back (the frame's layout: frame_decoder.ts). */
import {
  decodeBinaryHeader,
  encodeBinaryHeader,
} from "./binary_header_codec.ts";
import { ByteWriter } from "./byte_writer.ts";
import { FRAME_LENGTH_MAX, FRAME_PREFIX_SIZE } from "./frame_decoder.ts";
import { FrameError } from "./frame_error.ts";
import { decodeJsonHeader, encodeJsonHeader } from "./json_header_codec.ts";
import type { RemotingCommand } from "./remoting_command.ts";

const NO_BODY = new Uint8Array(0);
const HEADER_LENGTH_MAX = 0xff_ffff;

/**
 * Reads the whole frame at [start, end), whose lengths `FrameDecoder` has
 * checked. The body is a view of `frame`. Throws `FrameError`.
 */
export function decodeCommand(
  frame: Uint8Array,
  start = 0,
  end: number = frame.length,
): RemotingCommand {
  const type = frame[start + 4]!;
  const headerLength = (frame[start + 5]! << 16) |
    (frame[start + 6]! << 8) | frame[start + 7]!;
  const headerAt = start + FRAME_PREFIX_SIZE;
  const bodyAt = headerAt + headerLength;
  const header = frame.subarray(headerAt, bodyAt);
  const body = bodyAt === end ? NO_BODY : frame.subarray(bodyAt, end);
  if (type === 0) return decodeJsonHeader(header, body);
  if (type === 1) return decodeBinaryHeader(header, body);
  throw new FrameError(`the serialize type ${type} is neither 0 nor 1`);
}

/** One whole frame in a buffer of its own. */
export function encodeCommand(command: RemotingCommand): Uint8Array {
  const writer = new ByteWriter();
  writeCommand(writer, command);
  return writer.view();
}

/** Appends one whole frame. Throws `RangeError`, with nothing appended, when it is too large. */
export function writeCommand(
  writer: ByteWriter,
  command: RemotingCommand,
): void {
  writeCommandHead(writer, command);
  writer.bytes(command.body);
}

/** Appends a frame up to its body, which the caller must send next. */
export function writeCommandHead(
  writer: ByteWriter,
  command: RemotingCommand,
): void {
  const start = writer.length;
  const { body, serializeType } = command;
  writer.u32(0);
  writer.u32(0);
  if (serializeType === 1) encodeBinaryHeader(writer, command);
  else encodeJsonHeader(writer, command);
  const headerLength = writer.length - start - FRAME_PREFIX_SIZE;
  const size = FRAME_PREFIX_SIZE + headerLength + body.length;
  if (size > FRAME_LENGTH_MAX || headerLength > HEADER_LENGTH_MAX) {
    writer.truncate(start);
    throw new RangeError(
      `Cannot encode a frame of ${size} bytes: the limit is ${FRAME_LENGTH_MAX}`,
    );
  }
  writer.u32At(start, size - 4);
  writer.u32At(start + 4, (serializeType << 24) | headerLength);
}
