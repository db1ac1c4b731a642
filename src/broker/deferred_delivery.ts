/** DeferredDelivery: everything of one run of a broker that is delivered later. */
import type { BrokerOptions } from "./broker_options.ts";
import type { ScheduleMessageShell } from "./schedule_message_shell.ts";
import type { DelayOffsets } from "./schedule_message_service.ts";
import type { TimerMessageShell } from "./timer/timer_message_shell.ts";

/** Delay levels and timers. */
export class DeferredDelivery {
  constructor(
    readonly levels: ScheduleMessageShell,
    readonly timers: TimerMessageShell,
  ) {}

  reconfigure(options: BrokerOptions): void {
    this.levels.reconfigure(options.flushDelayOffsetInterval);
    this.timers.reconfigure(options);
  }

  /** Next queue offset to deliver, by level; of a slave those of its master. */
  offsets(): DelayOffsets {
    return this.levels.offsets();
  }

  /** Messages that were not delivered yet, by level. */
  waitingCounts(): ReadonlyMap<number, number> {
    return this.levels.waitingCounts();
  }

  /** True while delayOffset.json does not tell all that was delivered. */
  get isChanged(): boolean {
    return this.levels.isChanged || this.timers.isChanged;
  }

  /** Every 100 ms. */
  tick(): void {
    this.levels.tick();
    this.timers.tick();
  }

  /** Delivers nothing from now on, and writes what was, so that a slave can have it all. */
  hold(): void {
    this.levels.hold();
    this.timers.hold();
  }

  /** Undoes `hold`. */
  release(): void {
    this.levels.release();
    this.timers.release();
  }

  /** Delivers nothing more. */
  stop(): void {
    this.levels.stop();
    this.timers.stop();
  }

  /** After `stop`, while the store is open: resolves when delayOffset.json tells all, or cannot. */
  async persist(): Promise<void> {
    await this.levels.persist();
    await this.timers.persist();
  }
}
