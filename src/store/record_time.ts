/** firstStoreTimestamp: the store time that a log file begins with. */
import { readInt64 } from "../base/int64.ts";
import type { FileSystem } from "../io/file_system.ts";
import {
  MESSAGE_MAGIC_CODE_V1,
  MESSAGE_MAGIC_CODE_V2,
  storeTimestampPosition,
  SYS_FLAG_POSITION,
} from "../model/message_record.ts";

const HEAD_SIZE = 80;

/** Milliseconds; 0 when the file does not begin with a record. Throws `FileError`. */
export function firstStoreTimestamp(
  fileSystem: FileSystem,
  path: string,
): number {
  const head = new Uint8Array(HEAD_SIZE);
  const handle = fileSystem.open(path, "read");
  try {
    if (handle.size() < head.length) return 0;
    handle.readAt(0, head);
  } finally {
    handle.close();
  }
  const view = new DataView(head.buffer);
  const magic = view.getInt32(4);
  if (magic !== MESSAGE_MAGIC_CODE_V1 && magic !== MESSAGE_MAGIC_CODE_V2) {
    return 0;
  }
  return readInt64(
    view,
    storeTimestampPosition(view.getInt32(SYS_FLAG_POSITION)),
  );
}
