/**
 * TimerMessageShell: reads, delivers, rolls and writes what `TimerMessageStore` says.
 *
 * Two loops: one follows the queue and delivers what is due, the other one reads and rolls what is
 * old. A turn of either takes a few milliseconds.
 *
 * Invariant: nothing is delivered or rolled unless this broker may take messages.
 */
import type { Timer } from "../../io/clock.ts";
import { FileError } from "../../io/file_system.ts";
import type { TimerUnit } from "../../store/timer_messages.ts";
import type { TimerCheckpoint } from "./timer_checkpoint.ts";
import { TimerDelivery } from "./timer_delivery.ts";
import {
  TimerMessagePut,
  type TimerMessagePutPorts,
} from "./timer_message_put.ts";
import { TimerMessageStore } from "./timer_message_store.ts";
import {
  TimerPersistence,
  type TimerPersistencePorts,
} from "./timer_persistence.ts";
import { NO_PROGRESS, type TimerProgress } from "./timer_progress.ts";
import { TimerRate } from "./timer_rate.ts";
import { TimerRoll } from "./timer_roll.ts";
import { readTimedUnits } from "./timer_units.ts";

/** What it needs. */
export interface TimerMessageShellPorts
  extends TimerMessagePutPorts, TimerPersistencePorts {
  /** False for a slave. */
  isMaster(): boolean;
  /** Whether this master may take messages now. */
  mayDeliver(): boolean;
}

/** Keys of broker.conf that it reads. */
export interface TimerShellOptions {
  /** Milliseconds between two writes of what is done. */
  readonly timerFlushIntervalMs: number;
  /** Seconds after which a message that waits is put again. */
  readonly timerRollWindowSlot: number;
}

const TURN_MAX_MS = 4;
const TICK_MS = 100;
const RETRY_MS = 1_000;
/** Between two looks at what has to be rolled. */
const ROLL_INTERVAL_MS = 60_000;

/** The timers of one run of a broker. */
export class TimerMessageShell {
  readonly #ports: TimerMessageShellPorts;
  readonly #put: TimerMessagePut;
  readonly #persistence: TimerPersistence;
  #options: TimerShellOptions;
  #store: TimerMessageStore | null = null;
  #delivery: TimerDelivery | null = null;
  #roll: TimerRoll | null = null;
  #loaded: TimerProgress = NO_PROGRESS;
  #rollMs = 0;
  #isHeld = false;
  #isStopped = false;
  #isUnreadable = false;
  readonly #loops = { main: false, old: false };
  readonly #running = new Set<Promise<void>>();
  #again = false;
  #retryMs = 0;
  #wakeUp: Timer | null = null;
  #toldLost = 0;
  readonly #rates = { enqueued: new TimerRate(), dequeued: new TimerRate() };

  constructor(ports: TimerMessageShellPorts, options: TimerShellOptions) {
    this.#ports = ports;
    this.#put = new TimerMessagePut(ports);
    this.#persistence = new TimerPersistence(
      ports,
      options.timerFlushIntervalMs,
    );
    this.#options = options;
  }

  reconfigure(options: TimerShellOptions): void {
    this.#options = options;
    this.#persistence.reconfigure(options.timerFlushIntervalMs);
  }

  /** What is pending; null on a slave. */
  get store(): TimerMessageStore | null {
    return this.#store;
  }

  /** Messages in the queue that were not read yet. */
  get unreadCount(): number {
    const { max = 0 } = this.#ports.messages.range() ?? {};
    return this.#store === null ? 0 : Math.max(0, max - this.#store.tail);
  }

  /** Messages a second, over the last seconds. */
  get enqueueTps(): number {
    return this.#rates.enqueued.tps;
  }

  get dequeueTps(): number {
    return this.#rates.dequeued.tps;
  }

  /** What slaves are told (60): what is done durably. */
  checkpoint(): TimerCheckpoint {
    return this.#persistence.checkpoint();
  }

  /** True while what is written does not tell all that was delivered. */
  get isChanged(): boolean {
    return this.#persistence.isChanged;
  }

  /** Every 100 ms, and when a timer message has arrived. */
  tick(): void {
    if (this.#isStopped || !this.#ports.isMaster()) return;
    if (this.#store === null) this.#start();
    this.#run("main", () => this.#mainStep());
    this.#run("old", () => this.#oldStep());
    // Whoever holds it waits until the last delivery is written.
    if (this.#isHeld && this.isChanged) this.#persistence.write(true);
    this.#persistence.tick();
    this.#tellLost();
    const { clock, metrics } = this.#ports;
    this.#rates.enqueued.tick(metrics.enqueuedCount, clock.monotonicMs());
    this.#rates.dequeued.tick(metrics.dequeuedCount, clock.monotonicMs());
  }

  /** A timer message has arrived. */
  onArriving(): void {
    if (this.#store === null || this.#isStopped) return;
    this.#again = true;
    if (this.#loops.main) return;
    // What arrives in this turn is read together.
    this.#wakeUp?.cancel();
    this.#wakeUp = this.#ports.clock.after(0, () => this.#wake());
  }

  /** Delivers nothing from now on, and writes what was. */
  hold(): void {
    this.#isHeld = true;
    if (!this.#isStopped) this.#persistence.write(true);
  }

  /** Undoes `hold`. */
  release(): void {
    this.#isHeld = false;
  }

  /** Delivers nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#wakeUp?.cancel();
  }

  /** After `stop`, while the store is open: writes what is done, also for an Apache broker. */
  async persist(): Promise<void> {
    await Promise.all(this.#running);
    await this.#persistence.finish();
  }

  #start(): void {
    const { clock, messages } = this.#ports;
    this.#loaded = this.#persistence.load();
    this.#store = new TimerMessageStore(this.#loaded, messages.range());
    this.#persistence.start(this.#store);
    this.#delivery = new TimerDelivery(
      { ...this.#ports, mayDeliver: () => this.#mayDeliver() },
      this.#store,
      this.#put,
    );
    this.#roll = new TimerRoll(
      { ...this.#ports, mayRoll: () => this.#mayDeliver() },
      this.#store,
      this.#put,
      this.#loaded,
    );
    this.#rollMs = clock.monotonicMs() + ROLL_INTERVAL_MS;
  }

  #wake(): void {
    if (this.#isStopped || this.#store === null) return;
    this.#run("main", () => this.#mainStep());
  }

  /** Does steps until there is none, in turns. */
  #run(name: "main" | "old", step: () => Promise<boolean>): void {
    if (this.#loops[name]) return;
    this.#loops[name] = true;
    const running = this.#loop(step).finally(() => {
      this.#loops[name] = false;
      this.#running.delete(running);
      if (name === "main") this.#setWakeUp();
    });
    this.#running.add(running);
  }

  async #loop(step: () => Promise<boolean>): Promise<void> {
    const { clock } = this.#ports;
    let turnMs = clock.monotonicMs();
    while (!this.#isStopped && await step()) {
      if (clock.monotonicMs() - turnMs < TURN_MAX_MS) continue;
      await new Promise<void>((resolve) => void clock.after(1, resolve));
      turnMs = clock.monotonicMs();
    }
  }

  /** What is due before the next tick does not wait for it. */
  #setWakeUp(): void {
    const atMs = this.#store?.nextAtMs;
    if (this.#isStopped || this.#isHeld) return;
    const restMs = this.#again
      ? 0
      : (atMs ?? Infinity) - this.#ports.clock.nowMs();
    const isWaiting = this.#ports.clock.monotonicMs() < this.#retryMs;
    if (restMs > TICK_MS || isWaiting) return;
    this.#wakeUp?.cancel();
    this.#wakeUp = this.#ports.clock.after(
      Math.max(this.#again ? 0 : 1, restMs),
      () => this.#wake(),
    );
  }

  async #mainStep(): Promise<boolean> {
    const { messages } = this.#ports;
    const store = this.#store!;
    this.#again = false;
    const range = messages.range();
    if (range === undefined) return false;
    return await this.#trying(async () => {
      const part = store.nextScan(range);
      if (part !== undefined) {
        const units = await this.#units(part);
        store.onScanned(units);
        // A file of the queue may have ended: `range` tells more the next time.
        if (units.length > 0) return true;
      }
      return await this.#delivery!.step();
    });
  }

  async #oldStep(): Promise<boolean> {
    const store = this.#store!;
    return await this.#trying(async () => {
      const part = store.nextRescan();
      if (part !== undefined) {
        store.onRescanned(await this.#units(part), part);
        return true;
      }
      await this.#startRoll();
      return await this.#roll!.step();
    });
  }

  async #startRoll(): Promise<void> {
    const { clock, messages } = this.#ports;
    if (clock.monotonicMs() < this.#rollMs || !this.#mayDeliver()) return;
    this.#rollMs = clock.monotonicMs() + ROLL_INTERVAL_MS;
    const windowMs = Math.min(
      this.#options.timerRollWindowSlot * 1_000,
      messages.fileReservedMs / 2,
    );
    const bound = await messages.offsetByTime(clock.nowMs() - windowMs);
    this.#store!.startRoll(bound);
  }

  #units(part: { offset: number; count: number }): Promise<TimerUnit[]> {
    const { logger, messages } = this.#ports;
    return readTimedUnits(messages, part, this.#loaded, (unit, reason) => {
      logger.error(
        `A timer message at ${unit.phyOffset} of the log is not delivered: ${reason}`,
      );
    });
  }

  /** A device that fails is asked again later. */
  async #trying(step: () => Promise<boolean>): Promise<boolean> {
    const { clock, logger } = this.#ports;
    if (clock.monotonicMs() < this.#retryMs) return false;
    try {
      const isDone = await step();
      this.#isUnreadable = false;
      return isDone;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.#retryMs = clock.monotonicMs() + RETRY_MS;
      if (!this.#isUnreadable) {
        logger.warn(`Timer messages cannot be read: ${error.message}`);
      }
      this.#isUnreadable = true;
      return false;
    }
  }

  #mayDeliver(): boolean {
    return !this.#isHeld && !this.#isStopped && this.#ports.isMaster() &&
      this.#ports.mayDeliver();
  }

  #tellLost(): void {
    const lost = this.#store!.lostCount;
    if (lost === this.#toldLost) return;
    this.#ports.logger.warn(
      `${
        lost - this.#toldLost
      } timer messages are not delivered: their records were deleted (fileReservedTime, maxStoreBytes or a full disk)`,
    );
    this.#toldLost = lost;
  }
}
