/**
 * ScheduleMessageShell: reads, stores and writes what `ScheduleMessageService` says.
 *
 * Invariants
 * - Nothing is delivered unless this broker may take messages: it is the master, not fenced, and
 *   neither stopping nor changing its role.
 * - A turn of the loop delivers for a few milliseconds only; the rest follows in the next ones.
 */
import type { Clock, Timer } from "../io/clock.ts";
import { FileError } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import type {
  DelayedMessages,
  DelayedUnit,
} from "../store/delayed_messages.ts";
import type { RecordsRead } from "../store/record_reader.ts";
import type { DelayOffsetFile } from "./delay_offset_file.ts";
import type { Now } from "./delay_level_task.ts";
import {
  ScheduleMessagePut,
  type ScheduleMessagePutPorts,
} from "./schedule_message_put.ts";
import {
  type DelayOffsets,
  type ScheduleEffect,
  ScheduleMessageService,
} from "./schedule_message_service.ts";

/** What it needs. */
export interface ScheduleMessageShellPorts extends ScheduleMessagePutPorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly messages: DelayedMessages;
  readonly file: DelayOffsetFile;
  /** False for a slave. */
  isMaster(): boolean;
  /** Whether this master may take messages now. */
  mayDeliver(): boolean;
}

/** Units that one delivery looks at. */
const UNITS_MAX = 128;
/** Deliveries, and milliseconds, of one turn of the loop. */
const TURN_EFFECTS_MAX = 8;
const TURN_MAX_MS = 4;
/** Until the next turn, while there is more. */
const NEXT_TURN_MS = 1;

type Deliver = Extract<ScheduleEffect, { kind: "deliver" }>;

/** The delivery of one run of a broker. */
export class ScheduleMessageShell {
  readonly #ports: ScheduleMessageShellPorts;
  readonly #service: ScheduleMessageService;
  readonly #put: ScheduleMessagePut;
  /** Levels whose last delivery failed. */
  readonly #failing = new Set<number>();
  #persisting: Promise<void> = Promise.resolve();
  #isHeld = false;
  #isStarted = false;
  #isStopped = false;
  #isUnwritable = false;
  #turn: Timer | null = null;

  constructor(
    ports: ScheduleMessageShellPorts,
    flushDelayOffsetInterval: number,
  ) {
    this.#ports = ports;
    this.#put = new ScheduleMessagePut(ports);
    const { messages } = ports;
    this.#service = new ScheduleMessageService(
      messages,
      (level) => messages.delayLevels.delayMs(level),
      flushDelayOffsetInterval,
    );
  }

  reconfigure(flushDelayOffsetInterval: number): void {
    this.#service.reconfigure(flushDelayOffsetInterval);
  }

  /** Next queue offset to deliver, by level; of a slave those of its master. */
  offsets(): DelayOffsets {
    return this.#isStarted
      ? this.#service.offsets()
      : this.#ports.file.offsets();
  }

  /** Messages that were not delivered yet, by level. */
  waitingCounts(): ReadonlyMap<number, number> {
    const { messages } = this.#ports;
    const offsets = this.offsets();
    return new Map(
      messages.levels().map((level) => {
        const { maxInLog, min } = messages.range(level)!;
        const next = Math.max(offsets.get(level) ?? 0, min);
        return [level, Math.max(0, maxInLog - next)];
      }),
    );
  }

  /** True while delayOffset.json does not tell all that was delivered. */
  get isChanged(): boolean {
    return this.#isStarted && this.#service.isChanged;
  }

  /** Every 100 ms. */
  tick(): void {
    if (this.#isStopped || !this.#ports.isMaster()) return;
    if (!this.#isStarted) this.#start();
    this.#service.tick();
    this.#run();
  }

  /** Delivers nothing from now on, and writes what was, so that a slave can have it all. */
  hold(): void {
    this.#isHeld = true;
    if (!this.#isStarted || this.#isStopped) return;
    const effect = this.#service.nextPersist(this.#now(), true);
    if (effect !== undefined) this.#perform(effect);
  }

  /** Undoes `hold`. */
  release(): void {
    this.#isHeld = false;
  }

  /** Delivers nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#turn?.cancel();
  }

  /** After `stop`, while the store is open: resolves when delayOffset.json tells all, or cannot. */
  async persist(): Promise<void> {
    await this.#persisting;
    if (!this.#isStarted) return;
    const effect = this.#service.nextPersist(this.#now(), true);
    if (effect !== undefined) this.#perform(effect);
    await this.#persisting;
  }

  /** The tables are read and the store is open. */
  #start(): void {
    this.#isStarted = true;
    const { file, logger, messages } = this.#ports;
    // Of a log that was cut: slaves would wait for what is gone.
    const isStale = file.deliveredUntil > messages.maxPhyOffset;
    const now = this.#now();
    const corrections = this.#service.load(file.offsets(), isStale, now);
    for (const { level, from, to } of corrections) {
      logger.warn(
        `delayOffset.json was at ${from} of delay level ${level}, which is outside of its queue: delivery goes on at ${to}`,
      );
    }
    const { delayLevels, fileReservedMs } = messages;
    if (delayLevels.longestMs < fileReservedMs) return;
    logger.warn(
      "messageDelayLevel has delays as long as log files are kept (fileReservedTime): messages may be deleted before they are due",
    );
  }

  #run(): void {
    if (this.#turn !== null) return;
    const { clock } = this.#ports;
    const startedMs = clock.monotonicMs();
    for (let count = 0; count < TURN_EFFECTS_MAX; count++) {
      const now = this.#now();
      const effect = this.#mayDeliver()
        ? this.#service.next(now)
        : this.#service.nextPersist(now, this.#isHeld);
      if (effect === undefined) return;
      this.#perform(effect);
      if (clock.monotonicMs() - startedMs >= TURN_MAX_MS) break;
    }
    this.#runSoon();
  }

  #runSoon(): void {
    if (this.#isStopped) return;
    this.#turn ??= this.#ports.clock.after(NEXT_TURN_MS, () => {
      this.#turn = null;
      this.#run();
    });
  }

  #mayDeliver(): boolean {
    return !this.#isHeld && !this.#isStopped && this.#ports.isMaster() &&
      this.#ports.mayDeliver();
  }

  #perform(effect: ScheduleEffect): void {
    switch (effect.kind) {
      case "read":
        return this.#read(effect.level, effect.offset);
      case "deliver":
        return this.#deliver(effect);
      case "persist":
        this.#persisting = this.#persist(effect.offsets);
        return;
      case "lost":
        this.#tellLost(effect.level, effect.count);
    }
  }

  #read(level: number, offset: number): void {
    const onUnits = (units: DelayedUnit[]) => {
      const effect = this.#service.onUnits(level, units, this.#now());
      if (effect !== undefined) this.#perform(effect);
    };
    this.#whenRead(
      level,
      () => this.#ports.messages.readUnits(level, offset, UNITS_MAX),
      onUnits,
    );
  }

  #deliver(effect: Deliver): void {
    this.#whenRead(
      effect.level,
      () => this.#ports.messages.readRecords(effect.units),
      (records) => {
        try {
          this.#putAll(effect, records);
        } finally {
          records.release();
        }
      },
    );
  }

  /** Calls `then` in this turn when `read` is synchronous. */
  #whenRead<T>(
    level: number,
    read: () => T | Promise<T>,
    then: (it: T) => void,
  ): void {
    const onFailed = (error: unknown) => {
      if (!(error instanceof FileError)) throw error;
      this.#service.onFailed(level, this.#now());
      this.#tellFailed(level, error.message);
    };
    let result: T | Promise<T>;
    try {
      result = read();
    } catch (error) {
      onFailed(error);
      return;
    }
    if (!(result instanceof Promise)) return then(result);
    result.then((it) => {
      then(it);
      this.#runSoon();
    }, onFailed);
  }

  #putAll(effect: Deliver, { body, count }: RecordsRead): void {
    const { level } = effect;
    let position = 0;
    for (let index = 0; index < count; index++) {
      // Asked again: while the records were read the role may have become another one.
      if (!this.#mayDeliver()) {
        return this.#service.onFailed(level, this.#now());
      }
      const put = this.#put.put(level, body, position);
      position += put.size;
      if (put.failure !== null) {
        this.#service.onFailed(level, this.#now());
        return this.#tellFailed(level, put.failure);
      }
      if (put.queueOffset !== null) {
        this.#service.onStored(level, put.queueOffset);
      }
    }
    this.#service.onDelivered(level, effect.nextOffset);
    const gone = effect.nextOffset - effect.offset - count;
    if (gone > 0) this.#tellLost(level, gone);
    if (count > 0 && this.#failing.delete(level)) {
      this.#ports.logger.info(
        `Due messages of delay level ${level} are delivered again`,
      );
    }
  }

  async #persist(offsets: DelayOffsets): Promise<void> {
    const { file, logger, messages } = this.#ports;
    let isDurable = false;
    try {
      const deliveredUntil = messages.maxPhyOffset;
      if (await messages.flush()) {
        await file.write(offsets, deliveredUntil);
        isDurable = true;
        this.#isUnwritable = false;
      }
    } catch (error) {
      if (!this.#isUnwritable) {
        logger.error("delayOffset.json could not be written", {
          error: String(error),
        });
      }
      this.#isUnwritable = true;
    }
    this.#service.onPersisted(offsets, isDurable, this.#now());
  }

  #tellFailed(level: number, reason: string): void {
    if (this.#failing.has(level)) return;
    this.#failing.add(level);
    this.#ports.logger.warn(
      `Due messages of delay level ${level} wait, and are tried again: ${reason}`,
    );
  }

  #tellLost(level: number, count: number): void {
    this.#ports.logger.warn(
      `${count} messages of delay level ${level} are not delivered: their records were deleted (fileReservedTime, maxStoreBytes or a full disk)`,
    );
  }

  #now(): Now {
    const { clock } = this.#ports;
    return { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
  }
}
