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
  const view = new DataView(
    header.buffer,
    header.byteOffset,
    header.byteLength,
  );
  const remarkSize = view.getInt32(13);
  if (remarkSize < 0 || remarkSize > header.length - FIXED_SIZE) {
    throw new FrameError(`the remark size ${remarkSize} exceeds the header`);
  }
  const fieldsAt = REMARK_AT + remarkSize;
  const fieldsSize = view.getInt32(fieldsAt);
  const start = fieldsAt + 4;
  if (fieldsSize < 0 || fieldsSize > header.length - start) {
    throw new FrameError(`the fields size ${fieldsSize} exceeds the header`);
  }
  return {
    code: view.getInt16(0),
    language: languageName(view.getUint8(2)),
    version: view.getInt16(3),
    opaque: view.getInt32(5),
    flag: view.getInt32(9),
    remark: remarkSize === 0
      ? null
      : DECODER.decode(header.subarray(REMARK_AT, fieldsAt)),
    extFields: decodeFields(header, view, start, start + fieldsSize),
    body,
    serializeType: 1,
  };
}

/** An entry of size 0 is a null in Java: the field is left out. */
function decodeFields(
  header: Uint8Array,
  view: DataView,
  start: number,
  end: number,
): ExtFields {
  const fields: ExtFields = {};
  let position = start;
  while (position < end) {
    if (end - position < 2) throw new FrameError("a field name is cut off");
    const nameSize = view.getInt16(position);
    const nameAt = position + 2;
    if (nameSize < 0 || nameSize > end - nameAt - 4) {
      throw new FrameError(`the field name size ${nameSize} is out of bounds`);
    }
    const valueSize = view.getInt32(nameAt + nameSize);
    const valueAt = nameAt + nameSize + 4;
    if (valueSize < 0 || valueSize > end - valueAt) {
      throw new FrameError(
        `the field value size ${valueSize} is out of bounds`,
      );
    }
    position = valueAt + valueSize;
    if (nameSize === 0 || valueSize === 0) continue;
    const name = DECODER.decode(header.subarray(nameAt, nameAt + nameSize));
    if (name === "__proto__") continue;
    fields[name] = DECODER.decode(header.subarray(valueAt, position));
  }
  return fields;
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
