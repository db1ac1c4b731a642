/** UnitBatch: the ConsumeQueue units of one queue and one dispatch batch, before their write. */
import {
  CONSUME_QUEUE_UNIT_SIZE as UNIT_SIZE,
  writeConsumeQueueUnit,
} from "./consume_queue_unit.ts";

/** Most queues get few units in one batch, and there may be many queues. */
const FIRST_UNITS = 8;
const BATCH_UNITS = 256;
const BATCH_SIZE = BATCH_UNITS * UNIT_SIZE;
const SPARE_BATCHES_MAX = 256;

/** Up to 256 units, and room for the fence behind them. */
export class UnitBatch {
  #bytes = new Uint8Array(FIRST_UNITS * UNIT_SIZE + UNIT_SIZE);
  #view = new DataView(this.#bytes.buffer);
  /** Bytes in use. */
  size = 0;

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.size === BATCH_SIZE;
  }

  /** True when one more unit makes the buffer grow. */
  get isTight(): boolean {
    return this.size + UNIT_SIZE === this.#bytes.length;
  }

  add(phyOffset: number, size: number, tagsCode: number): void {
    writeConsumeQueueUnit(this.#view, this.size, phyOffset, size, tagsCode);
    this.size += UNIT_SIZE;
  }

  /** Twice the room. */
  grow(): void {
    const room = 2 * (this.#bytes.length - UNIT_SIZE);
    const bytes = new Uint8Array(room + UNIT_SIZE);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }

  /** The units and one unit of zeros, where a reader of the file has to stop. */
  withFence(): Uint8Array {
    this.#bytes.fill(0, this.size, this.size + UNIT_SIZE);
    return this.#bytes.subarray(0, this.size + UNIT_SIZE);
  }

  removeFirst(size: number): void {
    this.#bytes.copyWithin(0, size, this.size);
    this.size -= size;
  }

  clear(): void {
    this.size = 0;
  }
}

/** Batches that queues take for the time of one dispatch batch. */
export class UnitBatchPool {
  readonly #spare: UnitBatch[] = [];
  #bytesInUse = 0;

  /** Bytes of all batches that are taken. */
  get bytesInUse(): number {
    return this.#bytesInUse;
  }

  take(): UnitBatch {
    const batch = this.#spare.pop() ?? new UnitBatch();
    this.#bytesInUse += batch.bytes.length;
    return batch;
  }

  /** Adds a unit to a batch that is taken and not full. */
  add(
    batch: UnitBatch,
    phyOffset: number,
    size: number,
    tagsCode: number,
  ): void {
    if (batch.isTight) {
      this.#bytesInUse -= batch.bytes.length;
      batch.grow();
      this.#bytesInUse += batch.bytes.length;
    }
    batch.add(phyOffset, size, tagsCode);
  }

  giveBack(batch: UnitBatch): void {
    this.#bytesInUse -= batch.bytes.length;
    if (this.#spare.length < SPARE_BATCHES_MAX) this.#spare.push(batch);
  }
}
