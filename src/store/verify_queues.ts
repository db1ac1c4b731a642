/** Compares ConsumeQueues with the log: every record its unit, every unit its record. */
import { findProperty, MessageConst } from "../model/message_properties.ts";
import { MessageSysFlag } from "../model/message_sys_flag.ts";
import {
  CONSUME_QUEUE_UNIT_SIZE as UNIT_SIZE,
  type ConsumeQueueUnit,
  isFillerUnit,
  isValidUnit,
  readConsumeQueueUnit,
  unitPhyOffset,
} from "./consume_queue_unit.ts";
import { SCHEDULE_TOPIC } from "./delay_level_table.ts";
import { parentDirectory } from "./directories.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import { topicFolders } from "./queue_folders.ts";
import {
  ReadOnlyFiles,
  type ReadOnlyHandles,
  usualFileSize,
} from "./read_only_files.ts";
import type { StoreFinding, StoreFindings } from "./store_finding.ts";
import { unitFault } from "./verify_place.ts";

/** Findings kept per queue until it is known whether the topic was made again. */
const PENDING_MAX = 20;
const LMQ_PREFIX = "%LMQ%";
const TWO_32 = 4_294_967_296;
/** High half of an address of ConsumeQueueExt: the smallest int64 and a place in files. */
const EXT_ADDRESS_HIGH_MAX = -0x8000_0000 + 0x10_0000;

const scratch = new Uint8Array(UNIT_SIZE);
const scratchView = new DataView(scratch.buffer);

/** One queue: its files, and how far the walk through the log has come. */
class QueueCheck {
  nextOffset = -1;
  recordCount = 0;
  matchedCount = 0;
  missingFrom = -1;
  missingCount = 0;
  /** Those of them that no unit follows. */
  missingAtEnd = 0;
  pending: StoreFinding[] = [];

  constructor(
    readonly topic: string,
    readonly queueId: number,
    readonly files: ReadOnlyFiles,
  ) {}

  get path(): string {
    return this.files.directory;
  }

  /** The file that has, or should have, the unit; the folder when there is none. */
  fileOf(queueOffset: number): string {
    return this.files.fileAt(queueOffset * UNIT_SIZE)?.path ?? this.path;
  }

  /** Undefined where there is no valid unit. */
  unitAt(queueOffset: number): ConsumeQueueUnit | undefined {
    if (!this.files.readAt(queueOffset * UNIT_SIZE, scratch)) return undefined;
    if (!isValidUnit(scratchView, 0)) return undefined;
    return readConsumeQueueUnit(scratchView, 0);
  }

  restart(): void {
    this.matchedCount = 0;
    this.recordCount = 0;
    this.missingFrom = -1;
    this.missingCount = 0;
    this.missingAtEnd = 0;
    this.pending = [];
  }
}

/** All queues of a store. */
export class QueueVerifier {
  readonly #queues = new Map<string, QueueCheck>();
  readonly #topics = new Map<string, boolean>();
  readonly #fileSize: number;
  unitCount = 0;
  /** Units of the newest records that a running store has not written yet. */
  laggingCount = 0;

  constructor(
    private readonly handles: ReadOnlyHandles,
    private readonly directory: string,
    /** What units point into. */
    private readonly log: ReadOnlyFiles,
    private readonly findings: StoreFindings,
    /** First offsets of topics that were deleted. */
    private readonly deletedBelow: ReadonlyMap<string, number>,
    /** `warning` for what a store lags behind while it runs. */
    private readonly lagSeverity: "error" | "warning",
    /** Another process writes into the store. */
    private readonly isInUse: boolean,
    /** Bytes of every queue file; 0 unknown. */
    recordedFileSize: number,
  ) {
    const queues = topicFolders(handles.fileSystem, directory, findings)
      .flatMap(({ topic, queueIds }) =>
        queueIds.map((queueId) => ({ topic, queueId }))
      );
    this.#fileSize = recordedFileSize > 0
      ? recordedFileSize
      : usualFileSize(handles.fileSystem, queues.map((it) => this.#pathOf(it)));
    for (const { topic, queueId } of queues) this.#queueOf(topic, queueId);
  }

  get queueCount(): number {
    return this.#queues.size;
  }

  /** To be called for every record that gets a unit, in the order of the log. */
  onRecord(request: DispatchRequest): void {
    const deletedBelow = this.deletedBelow.get(request.topic) ?? 0;
    if (request.phyOffset < deletedBelow) return;
    if (!this.#hasQueues(request.topic)) return;
    const queue = this.#queueOf(request.topic, request.queueId);
    this.#checkOrder(queue, request);
    queue.nextOffset = request.queueOffset + queueOffsetsOf(request);
    queue.recordCount += 1;
    const unit = queue.unitAt(request.queueOffset);
    if (unit === undefined) {
      if (queue.missingFrom < 0) queue.missingFrom = request.queueOffset;
      queue.missingCount += 1;
      queue.missingAtEnd += 1;
      return;
    }
    queue.missingAtEnd = 0;
    const difference = differenceOf(unit, request);
    if (difference === undefined) queue.matchedCount += 1;
    else if (queue.pending.length < PENDING_MAX) {
      queue.pending.push({
        severity: "error",
        kind: "unit-wrong",
        path: queue.fileOf(request.queueOffset),
        offset: request.queueOffset,
        message:
          `The unit ${difference}; its record is at ${request.phyOffset}`,
      });
    }
  }

  /** A broken record may have been any queue's. */
  onCorrupt(): void {
    for (const queue of this.#queues.values()) queue.nextOffset = -1;
  }

  /** The walk is over: the log holds [minPhyOffset, endPhyOffset). */
  finish(minPhyOffset: number, endPhyOffset: number): void {
    for (const queue of this.#queues.values()) {
      for (const it of queue.pending) this.findings.add(it);
      const lagging = this.isInUse ? queue.missingAtEnd : 0;
      this.laggingCount += lagging;
      const missingCount = queue.missingCount - lagging;
      if (missingCount > 0) {
        this.findings.add({
          severity: this.lagSeverity,
          kind: "unit-missing",
          path: queue.fileOf(queue.missingFrom),
          offset: queue.missingFrom,
          message: `${missingCount} records of the log have no unit` +
            cureOf(this.lagSeverity),
        });
      }
      this.#checkUnits(queue, minPhyOffset, endPhyOffset);
    }
  }

  /** False for a topic without any queue: it was deleted, or keeps its units elsewhere. */
  #hasQueues(topic: string): boolean {
    const known = this.#topics.get(topic);
    if (known !== undefined) return known;
    const { fileSystem } = this.handles;
    const path = `${this.directory}/${topic}`;
    const hasFolder = fileSystem.stat(path) !== undefined;
    const batchPath = `${parentDirectory(this.directory)}/batchconsumequeue`;
    if (!hasFolder && fileSystem.stat(`${batchPath}/${topic}`) === undefined) {
      this.findings.warning(
        "unit-missing",
        path,
        null,
        "The log has records of this topic, but no queue has: it was deleted, or its folder was lost",
      );
    }
    this.#topics.set(topic, hasFolder);
    return hasFolder;
  }

  #checkOrder(queue: QueueCheck, request: DispatchRequest): void {
    const { nextOffset, path } = queue;
    if (nextOffset < 0 || nextOffset === request.queueOffset) return;
    if (request.queueOffset < nextOffset) {
      queue.restart();
      this.findings.warning(
        "queue-offset",
        path,
        request.queueOffset,
        `The record at ${request.phyOffset} has queue offset ${request.queueOffset} after ` +
          `${
            nextOffset - 1
          }: the topic was made again, or offsets were given twice`,
      );
      return;
    }
    this.findings.error(
      "queue-offset",
      path,
      nextOffset,
      `The log goes from queue offset ${
        nextOffset - 1
      } to ${request.queueOffset} ` +
        `at ${request.phyOffset}`,
    );
  }

  /** Units that no record claims. */
  #checkUnits(queue: QueueCheck, minPhyOffset: number, endPhyOffset: number) {
    const { files } = queue;
    const bytes = new Uint8Array(UNIT_SIZE * 1_000);
    const view = new DataView(bytes.buffer);
    for (const file of files.files) {
      for (let position = 0; position + UNIT_SIZE <= file.size;) {
        const part = bytes.subarray(
          0,
          (file.size - position) - (file.size - position) % UNIT_SIZE,
        );
        this.handles.get(file.path).readAt(position, part);
        for (let at = 0; at < part.length; at += UNIT_SIZE) {
          if (!isValidUnit(view, at)) return;
          const queueOffset = (file.fileFromOffset + position + at) / UNIT_SIZE;
          this.#checkUnit(queue, queueOffset, view, at, {
            minPhyOffset,
            endPhyOffset,
          });
        }
        position += part.length;
      }
    }
  }

  #checkUnit(
    queue: QueueCheck,
    queueOffset: number,
    view: DataView,
    at: number,
    log: { minPhyOffset: number; endPhyOffset: number },
  ): void {
    if (isFillerUnit(view, at)) return;
    this.unitCount += 1;
    // Its units point to records of other queues, by design.
    if (queue.topic.startsWith(LMQ_PREFIX)) return;
    const phyOffset = unitPhyOffset(view, at);
    // Its record was deleted with its file.
    if (phyOffset < log.minPhyOffset) return;
    const size = view.getInt32(at + 8);
    // It was written behind the end of the walk.
    if (this.isInUse && phyOffset + size > log.endPhyOffset) return;
    const reason = phyOffset + size > log.endPhyOffset
      ? `beyond the end of the log, ${log.endPhyOffset}`
      : unitFault(this.log, phyOffset, size, queue.queueId, queueOffset);
    if (reason === undefined) return;
    this.findings.addAbout(phyOffset, {
      severity: "error",
      kind: "unit-dangling",
      path: queue.fileOf(queueOffset),
      offset: queueOffset,
      message: `The unit points to ${phyOffset}, ${reason}`,
    });
  }

  #pathOf({ topic, queueId }: { topic: string; queueId: number }): string {
    return `${this.directory}/${topic}/${queueId}`;
  }

  #queueOf(topic: string, queueId: number): QueueCheck {
    const directory = this.#pathOf({ topic, queueId });
    let queue = this.#queues.get(directory);
    if (queue === undefined) {
      queue = new QueueCheck(
        topic,
        queueId,
        ReadOnlyFiles.load(
          this.handles,
          directory,
          this.findings,
          { fileSize: this.#fileSize },
        ),
      );
      this.#queues.set(directory, queue);
    }
    return queue;
  }
}

/** What becomes of entries that a store lacks. */
export function cureOf(lagSeverity: "error" | "warning"): string {
  return lagSeverity === "warning" ? "; the next start adds them" : "";
}

/** Undefined when the unit says what the record says. */
function differenceOf(
  unit: ConsumeQueueUnit,
  request: DispatchRequest,
): string | undefined {
  if (unit.phyOffset !== request.phyOffset) {
    return `points to ${unit.phyOffset}`;
  }
  if (unit.size !== request.size) {
    return `says ${unit.size} bytes instead of ${request.size}`;
  }
  // Delivery times follow a setting, addresses of ConsumeQueueExt a file: neither is known here.
  const isAddress = unit.tagsCodeHigh < EXT_ADDRESS_HIGH_MAX;
  if (request.topic === SCHEDULE_TOPIC || isAddress) return undefined;
  const tagsCode = unit.tagsCodeHigh * TWO_32 + (unit.tagsCodeLow >>> 0);
  return tagsCode === request.tagsCode
    ? undefined
    : `has tags code ${tagsCode} instead of ${request.tagsCode}`;
}

/** How many queue offsets the record takes: an inner batch of 5.x one for each of its messages. */
function queueOffsetsOf({ propertiesText, sysFlag }: DispatchRequest): number {
  if ((sysFlag & MessageSysFlag.INNER_BATCH) === 0) return 1;
  const innerNum = findProperty(propertiesText, MessageConst.INNER_NUM);
  return Math.max(1, Number(innerNum ?? 1) || 1);
}
