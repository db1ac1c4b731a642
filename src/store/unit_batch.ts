/** UnitBatch: the ConsumeQueue units of one queue and one dispatch batch, before their write. */
import {
  CONSUME_QUEUE_UNIT_SIZE as UNIT_SIZE,
  writeConsumeQueueUnit,
} from "./consume_queue_unit.ts";

const BATCH_UNITS = 256;
const BATCH_SIZE = BATCH_UNITS * UNIT_SIZE;
const SPARE_BATCHES_MAX = 256;

/** Up to 256 units, and room for the fence behind them. */
export class UnitBatch {
  readonly bytes = new Uint8Array(BATCH_SIZE + UNIT_SIZE);
  readonly #view = new DataView(this.bytes.buffer);
  /** Bytes in use. */
  size = 0;

  get isFull(): boolean {
    return this.size === BATCH_SIZE;
  }

  add(phyOffset: number, size: number, tagsCode: number): void {
    writeConsumeQueueUnit(this.#view, this.size, phyOffset, size, tagsCode);
    this.size += UNIT_SIZE;
  }

  /** The units and one unit of zeros, where a reader of the file has to stop. */
  withFence(): Uint8Array {
    this.bytes.fill(0, this.size, this.size + UNIT_SIZE);
    return this.bytes.subarray(0, this.size + UNIT_SIZE);
  }

  removeFirst(size: number): void {
    this.bytes.copyWithin(0, size, this.size);
    this.size -= size;
  }

  clear(): void {
    this.size = 0;
  }
}

/** Batches that queues take for the time of one dispatch batch. */
export class UnitBatchPool {
  readonly #spare: UnitBatch[] = [];

  take(): UnitBatch {
    return this.#spare.pop() ?? new UnitBatch();
  }

  giveBack(batch: UnitBatch): void {
    if (this.#spare.length < SPARE_BATCHES_MAX) this.#spare.push(batch);
  }
}
