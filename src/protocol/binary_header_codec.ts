/**
 * The ROCKETMQ binary header (reference 1.3).
 *
 * | offset | size | type  | field      | note                               |
 * | -----: | ---: | ----- | ---------- | ---------------------------------- |
 * |      0 |    2 | i16   | code       |                                    |
 * |      2 |    1 | u8    | language   | LanguageCode byte                  |
 * |      3 |    2 | i16   | version    |                                    |
 * |      5 |    4 | i32   | opaque     |                                    |
 * |      9 |    4 | i32   | flag       |                                    |
 * |     13 |    4 | i32   | remarkSize | 0 = none                           |
 * |     17 |    n | bytes | remark     | UTF-8                              |
 * | 17 + n |    4 | i32   | fieldsSize | bytes of all entries               |
 * | 21 + n |    m | bytes | fields     | i16 size, name, i32 size, value... |
 */
import type { ByteWriter } from "./byte_writer.ts";
import { FrameError } from "./frame_error.ts";
import { languageByte, languageName } from "./language_code.ts";
import type { ExtFields, RemotingCommand } from "./remoting_command.ts";

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
const FIXED_SIZE = 21;
const REMARK_AT = 17;

/** Reads the header; `body` is attached as it is. Throws `FrameError`. */
export function decodeBinaryHeader(
  header: Uint8Array,
  body: Uint8Array,
): RemotingCommand {
  if (header.length < FIXED_SIZE) {
    throw new FrameError(
      `the binary header has ${header.length} bytes, at least ${FIXED_SIZE} are needed`,
    );
  }
  const remarkSize = int32(header, 13);
  if (remarkSize < 0 || remarkSize > header.length - FIXED_SIZE) {
    throw new FrameError(`the remark size ${remarkSize} exceeds the header`);
  }
  const fieldsAt = REMARK_AT + remarkSize;
  const fieldsSize = int32(header, fieldsAt);
  const start = fieldsAt + 4;
  if (fieldsSize < 0 || fieldsSize > header.length - start) {
    throw new FrameError(`the fields size ${fieldsSize} exceeds the header`);
  }
  return {
    code: int16(header, 0),
    language: languageName(header[2]!),
    version: int16(header, 3),
    opaque: int32(header, 5),
    flag: int32(header, 9),
    remark: remarkSize === 0
      ? null
      : DECODER.decode(header.subarray(REMARK_AT, fieldsAt)),
    extFields: decodeFields(header.subarray(start, start + fieldsSize)),
    body,
    serializeType: 1,
  };
}

/** An entry of size 0 is a null in Java: the field is left out. */
function decodeFields(bytes: Uint8Array): ExtFields {
  const fields: ExtFields = {};
  const end = bytes.length;
  if (end === 0) return fields;
  const textOf = textReader(bytes);
  let position = 0;
  while (position < end) {
    if (end - position < 2) throw new FrameError("a field name is cut off");
    const nameSize = int16(bytes, position);
    const nameAt = position + 2;
    if (nameSize < 0 || nameSize > end - nameAt - 4) {
      throw new FrameError(`the field name size ${nameSize} is out of bounds`);
    }
    const valueSize = int32(bytes, nameAt + nameSize);
    const valueAt = nameAt + nameSize + 4;
    if (valueSize < 0 || valueSize > end - valueAt) {
      throw new FrameError(
        `the field value size ${valueSize} is out of bounds`,
      );
    }
    position = valueAt + valueSize;
    if (nameSize === 0 || valueSize === 0) continue;
    const name = textOf(nameAt, nameAt + nameSize);
    if (name !== "__proto__") fields[name] = textOf(valueAt, position);
  }
  return fields;
}

/**
 * Gives the text of any range. Decoding is a call per text, slow for short
 * ones: so everything is decoded at once, sizes included, and cut by position,
 * which is right when every byte has become one UTF-16 unit.
 */
function textReader(bytes: Uint8Array): (from: number, to: number) => string {
  const all = DECODER.decode(bytes);
  return all.length === bytes.length
    ? (from, to) => all.slice(from, to)
    : (from, to) => DECODER.decode(bytes.subarray(from, to));
}

function int16(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) >> 16) | bytes[at + 1]!;
}

function int32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) |
    bytes[at + 3]!;
}

/** Appends the header; a code beyond 16 bits is cut, as Java does. */
export function encodeBinaryHeader(
  writer: ByteWriter,
  command: RemotingCommand,
): void {
  writer.u16(command.code);
  writer.u8(languageByte(command.language));
  writer.u16(command.version);
  writer.u32(command.opaque);
  writer.u32(command.flag);
  encodeText(writer, command.remark ?? "");
  const sizeAt = writer.length;
  writer.u32(0);
  for (const name in command.extFields) {
    const nameAt = writer.length;
    writer.u16(0);
    const nameSize = writer.utf8(name);
    if (nameSize > 0x7fff) {
      throw new RangeError(
        `Cannot encode a field name of ${nameSize} bytes in a binary header`,
      );
    }
    writer.u16At(nameAt, nameSize);
    encodeText(writer, command.extFields[name]!);
  }
  writer.u32At(sizeAt, writer.length - sizeAt - 4);
}

function encodeText(writer: ByteWriter, text: string): void {
  const sizeAt = writer.length;
  writer.u32(0);
  writer.u32At(sizeAt, writer.utf8(text));
}
