/** WriterPool: buffers for answers, so that an idle connection owns none. */
import { ByteWriter } from "../protocol/byte_writer.ts";

const WRITERS_KEPT_MAX = 16;
const WRITER_SIZE_KEPT = 256 * 1024;

/** Lends writers to the connections of one server or client. */
export class WriterPool {
  readonly #free: ByteWriter[] = [];

  take(): ByteWriter {
    return this.#free.pop() ?? new ByteWriter();
  }

  giveBack(writer: ByteWriter): void {
    if (this.#free.length >= WRITERS_KEPT_MAX) return;
    writer.clear(WRITER_SIZE_KEPT);
    this.#free.push(writer);
  }
}
