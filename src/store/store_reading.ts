/** StoreReading: pulls and queries, and how much of the log counts as "in memory". */
import type { Clock } from "../io/clock.ts";
import { ColdPace } from "./cold_pace.ts";
import { ColdReader } from "./cold_reader.ts";
import { GetMessageService } from "./get_message_service.ts";
import type { MessageStorePorts } from "./message_store_ports.ts";
import { QueryMessageService } from "./query_message_service.ts";
import type { QueueOffsetTable } from "./queue_offset_table.ts";
import { RecordReader } from "./record_reader.ts";
import type { StoreFiles } from "./store_files.ts";
import type { MessageStoreOptions } from "./store_options.ts";

const MEMORY_BYTES_DEFAULT = 1_073_741_824;
/** Share of memory that hot reads may assume to be page cache. */
const HOT_MEMORY_SHARE = 0.25;
const CORES_DEFAULT = 2;

/** The read services of one store. */
export class StoreReading {
  readonly getService: GetMessageService;
  readonly queryService: QueryMessageService;
  readonly reader: RecordReader;
  readonly coldReader: ColdReader;
  /** Bytes behind the end of the log that count as "in memory" (reference 9.3). */
  readonly memoryBytes: number;
  /** Bytes behind the end of the log that may be assumed to be in the page cache. */
  readonly hotBytesMax: number;
  readonly #files: StoreFiles;

  constructor(
    clock: Clock,
    files: StoreFiles,
    host: MessageStorePorts["host"],
    options: MessageStoreOptions,
    isSlave: () => boolean,
    queueOffsets: QueueOffsetTable,
  ) {
    this.#files = files;
    const memoryLimit = host?.memoryLimitBytes() ?? MEMORY_BYTES_DEFAULT;
    const ratio = options.accessMessageInMemoryMaxRatio / 100;
    this.memoryBytes = memoryLimit * ratio;
    this.hotBytesMax = memoryLimit * HOT_MEMORY_SHARE;
    const cores = host?.cpuCount() ?? CORES_DEFAULT;
    const { log, queues, index } = files;
    const coldReader = this.coldReader = new ColdReader(
      options.coldReadsMax || Math.max(1, cores - 1),
    );
    const paceOf = () =>
      new ColdPace(
        clock,
        () => log.maxOffset,
        options.coldReadBytesPerSecondMax,
      );
    const reader = this.reader = new RecordReader(
      log,
      coldReader,
      Math.min(options.hotReadBytesMax, this.hotBytesMax),
      paceOf(),
      paceOf(),
    );
    this.getService = new GetMessageService(
      log,
      queues,
      reader,
      coldReader,
      options,
      this.memoryBytes,
      isSlave,
      queueOffsets,
    );
    this.queryService = new QueryMessageService(log, queues, index, reader);
  }

  /** True when the record at that place lies within the memory ratio (reference 9.6). */
  isInMemory(topic: string, queueId: number, queueOffset: number): boolean {
    const { log, queues } = this.#files;
    const unit = queues.get(topic, queueId)?.unit(queueOffset);
    return unit !== undefined &&
      log.maxOffset - unit.phyOffset <= this.memoryBytes;
  }
}
