/** GetMessageService: the pull path of the store (reference 9.2, 9.3). */
import { propertiesTextOf } from "../model/message_record.ts";
import type { ColdReader } from "./cold_reader.ts";
import type { CommitLog } from "./commit_log.ts";
import type { ConsumeQueue } from "./consume_queue.ts";
import type { ConsumeQueueStore } from "./consume_queue_store.ts";
import { CONSUME_QUEUE_UNIT_SIZE } from "./consume_queue_unit.ts";
import type {
  GetMessageResult,
  GetMessageStatus,
  MessageFilter,
} from "./get_message_result.ts";
import type { QueueOffsetTable } from "./queue_offset_table.ts";
import type { RecordReader, RecordsRead } from "./record_reader.ts";
import type { MessageStoreOptions } from "./store_options.ts";
import { UnitSelection } from "./unit_selection.ts";

/** One pull. */
export interface GetMessageRequest {
  readonly topic: string;
  readonly queueId: number;
  /** The queue offset to begin at. */
  readonly offset: number;
  readonly maxMsgNums: number;
  readonly maxMsgBytes?: number;
  readonly filter: MessageFilter | null;
}

const NO_BODY = new Uint8Array(0);
/** Most units that one pull looks at, whatever it asks for. */
const UNITS_MAX = 16_384;
/** So many units behind the end of a queue are taken to be in the page cache. */
const HOT_UNITS_MAX = 16_384;

/** Finds messages. */
export class GetMessageService {
  #units = new Uint8Array(800 * CONSUME_QUEUE_UNIT_SIZE);
  #unitsView = new DataView(this.#units.buffer);
  readonly #selection = new UnitSelection();

  constructor(
    private readonly log: CommitLog,
    private readonly queues: ConsumeQueueStore,
    private readonly reader: RecordReader,
    private readonly coldReader: ColdReader,
    private options: MessageStoreOptions,
    /** Bytes behind the end of the log that count as "in memory". */
    private readonly memoryBytes: number,
    private readonly isSlave: () => boolean,
    private readonly queueOffsets: QueueOffsetTable,
  ) {}

  reconfigure(options: MessageStoreOptions): void {
    this.options = options;
  }

  /**
   * Synchronous when all records are hot. Where a filter on properties refuses
   * a whole batch of these, the next one follows, up to as many units as one
   * pull may look at (maxFilterMessageSize).
   */
  getMessage(
    request: GetMessageRequest,
  ): GetMessageResult | Promise<GetMessageResult> {
    let result = this.#getBatch(request);
    if (request.filter?.isMatchedByCommitLog === undefined) return result;
    const end = request.offset + this.#unitsWanted(request);
    while (!(result instanceof Promise)) {
      const { maxOffset, nextBeginOffset, status } = result;
      const isAtEnd = nextBeginOffset >= Math.min(end, maxOffset);
      if (status !== "NO_MATCHED_MESSAGE" || isAtEnd) break;
      const next = this.#getBatch({ ...request, offset: nextBeginOffset });
      if (!(next instanceof Promise) && !isOfRecords(next)) break;
      result.release();
      result = next;
    }
    return result;
  }

  #getBatch(
    request: GetMessageRequest,
  ): GetMessageResult | Promise<GetMessageResult> {
    const { offset } = request;
    const queue = this.queues.get(request.topic, request.queueId);
    const min = queue?.minOffsetInQueue ?? 0;
    const max = queue?.maxOffsetInQueue ?? 0;
    if (offset > max && this.#isComing(request)) {
      return this.#notFound("OFFSET_OVERFLOW_ONE", offset, offset, min, max);
    }
    if (queue === undefined) {
      return this.#notFound("NO_MATCHED_LOGIC_QUEUE", offset, 0, 0, 0);
    }
    if (max === 0) {
      return this.#notFound("NO_MESSAGE_IN_QUEUE", offset, 0, min, max);
    }
    if (offset < min) {
      return this.#notFound("OFFSET_TOO_SMALL", offset, min, min, max);
    }
    if (offset === max) {
      return this.#notFound("OFFSET_OVERFLOW_ONE", offset, offset, min, max);
    }
    if (offset > max) {
      return this.#notFound("OFFSET_OVERFLOW_BADLY", offset, max, min, max);
    }
    return this.#find(request, queue, min, max);
  }

  /**
   * True for records that are in the log and not visible (again) yet: whoever waits for them,
   * or saw them before an unclean stop, keeps its place.
   */
  #isComing({ offset, queueId, topic }: GetMessageRequest): boolean {
    return !this.isSlave() && offset <= this.queueOffsets.next(topic, queueId);
  }

  #find(
    request: GetMessageRequest,
    queue: ConsumeQueue,
    min: number,
    max: number,
  ): GetMessageResult | Promise<GetMessageResult> {
    const wanted = this.#unitsWanted(request);
    if (max - request.offset > HOT_UNITS_MAX) {
      return this.#findCold(request, queue, wanted);
    }
    const unitCount = queue.readUnits(request.offset, this.#unitsFor(wanted));
    return this.#select(request, queue, this.#unitsView, unitCount, min, max);
  }

  /** Far behind the end even the units may have to come from the device. */
  async #findCold(
    request: GetMessageRequest,
    queue: ConsumeQueue,
    wanted: number,
  ): Promise<GetMessageResult> {
    const units = new Uint8Array(wanted * CONSUME_QUEUE_UNIT_SIZE);
    const { offset } = request;
    let unitCount = 0;
    await this.coldReader.read(async () => {
      // Asked now: the file may have been deleted while this read was in line.
      if (offset < queue.minOffsetInQueue) return;
      unitCount = await queue.readUnitsAsync(offset, units);
    });
    return await this.#select(
      request,
      queue,
      new DataView(units.buffer),
      unitCount,
      queue.minOffsetInQueue,
      queue.maxOffsetInQueue,
    );
  }

  #unitsWanted(request: GetMessageRequest): number {
    const { options } = this;
    // Without a filter every unit counts, and the batch limits stop it early.
    const examined = request.filter === null
      ? options.maxTransferCountOnMessageInMemory
      : Math.floor(options.maxFilterMessageSize / CONSUME_QUEUE_UNIT_SIZE);
    return Math.min(UNITS_MAX, Math.max(examined, request.maxMsgNums));
  }

  #select(
    request: GetMessageRequest,
    queue: ConsumeQueue,
    units: DataView,
    unitCount: number,
    min: number,
    max: number,
  ): GetMessageResult | Promise<GetMessageResult> {
    const { options, log } = this;
    if (unitCount === 0) {
      const next = Math.max(min, queue.minOffsetInQueue);
      return this.#notFound(
        "OFFSET_FOUND_NULL",
        request.offset,
        next,
        min,
        max,
      );
    }
    const { memoryBytes } = this;
    const selection = this.#selection;
    selection.select(units, unitCount, request.filter, {
      maxMsgNums: request.maxMsgNums,
      maxMsgBytes: Math.min(
        request.maxMsgBytes ?? options.pullBytesMax,
        options.pullBytesMax,
      ),
      inMemoryFrom: log.maxOffset - memoryBytes,
      minPhyOffset: log.minOffset,
      options,
    });
    const found: Found = {
      filter: request.filter,
      nextBeginOffset: request.offset + selection.examinedCount,
      minOffset: min,
      maxOffset: max,
      wasRemoved: selection.count > 0 || selection.removedCount > 0,
      suggestPullingFromSlave:
        log.maxOffset - selection.lastPhyOffset > memoryBytes,
    };
    if (selection.count === 0) {
      return resultOf(found, { body: NO_BODY, count: 0, release() {} });
    }
    if (this.reader.isHot(selection.phyOffsets[0]!)) {
      return resultOf(found, this.reader.read(selection));
    }
    return this.reader.readCold(selection).then((it) => resultOf(found, it));
  }

  #unitsFor(count: number): Uint8Array {
    const size = count * CONSUME_QUEUE_UNIT_SIZE;
    if (size > this.#units.length) {
      this.#units = new Uint8Array(size);
      this.#unitsView = new DataView(this.#units.buffer);
    }
    return size === this.#units.length
      ? this.#units
      : this.#units.subarray(0, size);
  }

  /** A lagging slave must not correct a consumer's offset (offsetCheckInSlave). */
  #notFound(
    status: GetMessageStatus,
    offset: number,
    corrected: number,
    minOffset: number,
    maxOffset: number,
  ): GetMessageResult {
    const keeps = this.isSlave() && !this.options.offsetCheckInSlave;
    return {
      status,
      nextBeginOffset: keeps ? offset : corrected,
      minOffset,
      maxOffset,
      body: NO_BODY,
      messageCount: 0,
      release() {},
      suggestPullingFromSlave: false,
    };
  }
}

interface Found {
  readonly filter: MessageFilter | null;
  readonly nextBeginOffset: number;
  readonly minOffset: number;
  readonly maxOffset: number;
  /** When nothing comes back: because it is gone, not because of the filter. */
  readonly wasRemoved: boolean;
  readonly suggestPullingFromSlave: boolean;
}

/** False when the queue has nothing (any more) at the offset. */
function isOfRecords({ status }: GetMessageResult): boolean {
  return status === "FOUND" || status === "NO_MATCHED_MESSAGE";
}

function resultOf(found: Found, read: RecordsRead): GetMessageResult {
  const filter = found.filter;
  const kept = filter?.isMatchedByCommitLog === undefined
    ? read
    : filterRecords(filter, read);
  const isEmpty = kept.count === 0;
  return {
    status: !isEmpty
      ? "FOUND"
      : found.wasRemoved && read.count === 0
      ? "MESSAGE_WAS_REMOVING"
      : "NO_MATCHED_MESSAGE",
    nextBeginOffset: found.nextBeginOffset,
    minOffset: found.minOffset,
    maxOffset: found.maxOffset,
    body: kept.body,
    messageCount: kept.count,
    release: kept.release,
    suggestPullingFromSlave: found.suggestPullingFromSlave,
  };
}

/** Leaves out what the filter on properties does not want; compacts in place. */
function filterRecords(filter: MessageFilter, read: RecordsRead): RecordsRead {
  const { body } = read;
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  let end = 0;
  let count = 0;
  for (let position = 0; position < body.length;) {
    const size = view.getInt32(position);
    const text = propertiesTextOf(body, view, position);
    if (filter.isMatchedByCommitLog!(text)) {
      body.copyWithin(end, position, position + size);
      end += size;
      count++;
    }
    position += size;
  }
  return { body: body.subarray(0, end), count, release: read.release };
}
