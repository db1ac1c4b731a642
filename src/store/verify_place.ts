/** What lies at an offset of the log that queues or index point to. */
import {
  MESSAGE_MAGIC_CODE_V1,
  MESSAGE_MAGIC_CODE_V2,
  PHY_OFFSET_POSITION,
  QUEUE_OFFSET_POSITION,
} from "../model/message_record.ts";
import { unitPhyOffset } from "./consume_queue_unit.ts";
import type { ReadOnlyFiles } from "./read_only_files.ts";

const head = new Uint8Array(PHY_OFFSET_POSITION + 8);
const headView = new DataView(head.buffer);

/** True when a record begins at `phyOffset`; its body is not looked at. */
export function beginsRecord(log: ReadOnlyFiles, phyOffset: number): boolean {
  if (!log.readAt(phyOffset, head)) return false;
  const magic = headView.getInt32(4);
  return (magic === MESSAGE_MAGIC_CODE_V1 || magic === MESSAGE_MAGIC_CODE_V2) &&
    unitPhyOffset(headView, PHY_OFFSET_POSITION) === phyOffset;
}

/** Why a unit of this size, queue and queue offset cannot point to `phyOffset`; undefined: it can. */
export function unitFault(
  log: ReadOnlyFiles,
  phyOffset: number,
  size: number,
  queueId: number,
  queueOffset: number,
): string | undefined {
  if (!log.readAt(phyOffset, head)) return "where nothing is";
  if (!beginsRecord(log, phyOffset)) return "where no record begins";
  const sizeThere = headView.getInt32(0);
  if (sizeThere !== size) {
    return `a record of ${sizeThere} bytes, but says ${size}`;
  }
  const queueIdThere = headView.getInt32(12);
  const offsetThere = unitPhyOffset(headView, QUEUE_OFFSET_POSITION);
  return queueIdThere === queueId && offsetThere === queueOffset
    ? undefined
    : `a record of queue ${queueIdThere} with queue offset ${offsetThere}`;
}
