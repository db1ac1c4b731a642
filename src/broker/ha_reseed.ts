/**
 * HAReseed: makes the log of a slave a prefix of its master's again.
 *
 * | the comparison found | what is done | by whom |
 * | --- | --- | --- |
 * | the log ends below the master's first byte | the store goes aside, the log begins at that byte | itself (haAutoReseed), or by hand |
 * | other bytes, a place up to which both agree is known | the log is cut there | by hand |
 * | other bytes, no such place | as in the first row | by hand |
 *
 * The old bytes are kept in an aside folder. They are given up only where there is no room for
 * both and somebody has said so.
 *
 * Everything happens between two runs of the broker part, so that one start-up path recovers. A
 * failure of the surgery never stops the broker: it goes on with the old store, and says why.
 */
import type { HACoordinator } from "../ha/ha_coordinator.ts";
import type { HAClientServiceView } from "../ha/ha_client_service.ts";
import type { LogCure } from "../ha/master_probe.ts";
import type { Clock } from "../io/clock.ts";
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { parentDirectory } from "../store/directories.ts";
import { cutLog } from "../store/log_cut.ts";
import type { MessageStore } from "../store/message_store.ts";
import {
  commitLogDirectoryOf,
  type MessageStoreOptions,
} from "../store/store_options.ts";
import { setStoreAside } from "../store/store_reseed.ts";

/** The broker whose store it is. */
export interface HAReseedBroker {
  readonly isReady: boolean;
  readonly ha: HACoordinator;
  readonly messageStore: MessageStore;
  /** Rejects when the broker cannot start again. */
  restart(
    changes: Record<never, never>,
    between: () => Promise<void>,
  ): Promise<void>;
}

/** What it needs. */
export interface HAReseedPorts {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What was done. */
export interface HAReseedReport {
  readonly action: LogCure["kind"];
  /** Why. */
  readonly reason: string;
  /** Where the old bytes are; null when there were none, or they were given up. */
  readonly asideDirectory: string | null;
  /** CommitLog offsets of what was taken out of the store. */
  readonly minOffset: number;
  readonly maxOffset: number;
}

/** Nothing was done; the message is one sentence. */
export class HAReseedError extends Error {
  override readonly name = "HAReseedError";
  constructor(
    message: string,
    /** `refused`: it may not or need not be. `failed`: the disk did not let it. */
    readonly kind: "refused" | "failed",
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What is wrong, and what cures it. */
interface Plan {
  readonly problem: string;
  readonly reason: string;
  readonly cure: LogCure;
}

const LOOK_INTERVAL_MS = 500;
/** A slave that cannot keep up must not fill the disk with what it fetched in vain. */
const AUTOMATIC_INTERVAL_MS = 600_000;
const COMMAND = `"pocketmq ha reseed"`;

/** One for the life of a broker. */
export class HAReseed {
  readonly #broker: HAReseedBroker;
  readonly #ports: HAReseedPorts;
  readonly #logger: Logger;
  #isRunning = false;
  #nextLookMs = 0;
  #nextAutomaticMs = 0;
  #failure: string | null = null;

  constructor(broker: HAReseedBroker, ports: HAReseedPorts) {
    this.#broker = broker;
    this.#ports = ports;
    this.#logger = ports.logger.child("ha");
  }

  /** At the begin of every run of the broker part, and every 100 ms; `ha` is that run's. */
  tick(ha: HACoordinator): void {
    ha.remedy ??= () => this.#remedy(ha);
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs < this.#nextLookMs || this.#isRunning) return;
    this.#nextLookMs = nowMs + LOOK_INTERVAL_MS;
    if (!this.#broker.isReady) return;
    const plan = ha.role === "SLAVE" ? planOf(ha.client.view()) : null;
    if (plan === null || this.#obstacle(plan) !== null) return;
    this.#nextAutomaticMs = nowMs + AUTOMATIC_INTERVAL_MS;
    this.#run(plan, false).catch((error: unknown) =>
      this.#logger.error("This slave could not be re-seeded", { error })
    );
  }

  /**
   * By hand. With `isForced` the old data is given up where there is no room for both. Rejects
   * with `HAReseedError`, and as `BrokerController.restart` does.
   */
  async reseed(isForced: boolean): Promise<HAReseedReport> {
    const { ha, isReady } = this.#broker;
    if (this.#isRunning || !isReady) {
      throw refused("The broker is starting, stopping or changing its role");
    }
    if (ha.role !== "SLAVE") {
      throw refused(
        `Only a slave is re-seeded: this broker is a master (${ha.role})`,
      );
    }
    const plan = planOf(ha.client.view());
    if (plan === null) throw refused(nothingToDo(ha));
    const lack = this.#lackOfRoom(plan.cure);
    if (lack !== null && !isForced) {
      throw refused(`There is no room: ${lack}; ${forceHint()}`);
    }
    return await this.#run(plan, lack !== null);
  }

  /** What somebody can do; null when nobody need or can. */
  #remedy(ha: HACoordinator): string | null {
    const plan = planOf(ha.client.view());
    return plan === null || !this.#broker.isReady ? null : this.#obstacle(plan);
  }

  /** Why it does not happen by itself; null when it does. */
  #obstacle({ cure, problem }: Plan): string | null {
    if (this.#failure !== null) {
      return `the last attempt failed (${this.#failure}): try ${COMMAND}`;
    }
    if (problem !== "needs-reseed") return byHand(cure);
    if (!this.#broker.ha.options.haAutoReseed) {
      return `haAutoReseed is off: run ${COMMAND}`;
    }
    const lack = this.#lackOfRoom(cure);
    if (lack !== null) return `${lack}: ${forceHint()}`;
    return this.#ports.clock.monotonicMs() < this.#nextAutomaticMs
      ? `it was re-seeded a moment ago and was left behind again: it waits before the next time, or run ${COMMAND}`
      : null;
  }

  /** Null when the master's log fits beside the old one. */
  #lackOfRoom(cure: LogCure): string | null {
    if (cure.kind !== "reseed") return null;
    const { options } = this.#broker.messageStore;
    const space = this.#diskSpace(options);
    if (space === null) return null;
    const { freeBytes, totalBytes } = space;
    const ratio = options.diskSpaceWarningLevelRatio;
    const leftBytes = Math.max(
      0,
      Math.floor(freeBytes - totalBytes * (1 - ratio / 100)),
    );
    // Queues and index come on top.
    const neededBytes = Math.ceil(cure.bytes * 1.1);
    return neededBytes <= leftBytes
      ? null
      : `the master's log needs ${neededBytes} bytes beside the old data, ${leftBytes} are left below diskSpaceWarningLevelRatio=${ratio}`;
  }

  /** Null for a disk that cannot be asked: it is judged by its writes. */
  #diskSpace(options: MessageStoreOptions) {
    const directory = parentDirectory(commitLogDirectoryOf(options));
    try {
      return this.#ports.fileSystem.diskSpace(directory);
    } catch {
      return null;
    }
  }

  async #run(plan: Plan, isDiscarded: boolean): Promise<HAReseedReport> {
    const { messageStore } = this.#broker;
    const { options, maxPhyOffset } = messageStore;
    this.#isRunning = true;
    let report: HAReseedReport | null = null;
    this.#failure = null;
    try {
      await this.#broker.restart({}, async () => {
        try {
          report = await this.#operate(
            plan,
            options,
            maxPhyOffset,
            isDiscarded,
          );
        } catch (error) {
          this.#failure = messageOf(error);
        }
      });
    } finally {
      this.#isRunning = false;
    }
    if (report !== null) return report;
    throw new HAReseedError(
      `Nothing has changed: ${this.#failure}`,
      "failed",
    );
  }

  /** On the closed store. */
  async #operate(
    { cure, reason }: Plan,
    options: MessageStoreOptions,
    maxPhyOffset: number,
    isDiscarded: boolean,
  ): Promise<HAReseedReport> {
    const report = cure.kind === "cut"
      ? await this.#cut(cure.offset, reason, options)
      : {
        action: cure.kind,
        reason,
        ...await setStoreAside(this.#ports, options, {
          reason,
          maxOffset: maxPhyOffset,
          isDiscarded,
        }),
      };
    const { asideDirectory, ...shown } = report;
    const what = cure.kind === "cut"
      ? `The log is cut at ${cure.offset}`
      : "This slave begins anew from its master's oldest byte";
    const where = asideDirectory === null
      ? "nothing is kept"
      : `the old data is in ${asideDirectory}`;
    this.#logger.warn(`${what}, since ${lowerFirst(reason)}; ${where}`, shown);
    return report;
  }

  async #cut(
    cutOffset: number,
    reason: string,
    options: MessageStoreOptions,
  ): Promise<HAReseedReport> {
    const { asideDirectory, endOffset, offset } = await cutLog(
      this.#ports,
      options,
      cutOffset,
      reason,
    );
    return {
      action: "cut",
      reason,
      asideDirectory,
      minOffset: offset,
      maxOffset: endOffset,
    };
  }
}

function planOf({ cure, problem, reason }: HAClientServiceView): Plan | null {
  if (cure === null || problem === null) return null;
  return { problem, reason: reason ?? problem, cure };
}

function byHand(cure: LogCure): string {
  return cure.kind === "cut"
    ? `${COMMAND} cuts this log at ${cure.offset}, up to which both agree, and keeps the rest aside`
    : `${COMMAND} keeps this store aside and copies the master's`;
}

function forceHint(): string {
  return `make room, or run ${COMMAND} with --force, which gives the old data up`;
}

function nothingToDo(ha: HACoordinator): string {
  const { reason, state } = ha.state();
  return `Replication is ${state}, and re-seeding cures nothing` +
    (reason === null ? "" : `: ${reason}`);
}

function refused(message: string): HAReseedError {
  return new HAReseedError(message, "refused");
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
