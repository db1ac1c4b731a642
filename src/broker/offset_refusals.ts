/** Which commits of consumer offsets are refused, and how that is told. */
import { shown } from "../base/shown.ts";
import type { BrokerManagerPorts } from "./config_manager.ts";

const LOG_INTERVAL_MS = 60_000;

/** What the store knows of a queue's end. */
export interface QueueLimits {
  maxOffsetInQueue(topic: string, queueId: number): number;
}

/** Why a commit is not taken; undefined: it is. `limits` null: no end is known. */
export function refusalOfCommit(
  topic: string,
  queueId: number,
  offset: number,
  limits: QueueLimits | null,
): string | undefined {
  if (queueId < 0) return `The queueId ${queueId} is negative.`;
  if (offset < 0) return `The commitOffset ${offset} is negative.`;
  if (limits === null) return undefined;
  const max = limits.maxOffsetInQueue(topic, queueId);
  if (offset <= max) return undefined;
  return `The commitOffset ${offset} is beyond the max offset ${max} of ` +
    `queue ${queueId} of topic ${shown(topic)}.`;
}

/** Tells of refused commits once a minute, with how many there were. One per table of offsets. */
export class OffsetRefusals {
  readonly #ports: Pick<BrokerManagerPorts, "clock" | "logger">;
  #count = 0;
  #loggedMs = -Infinity;

  constructor(ports: Pick<BrokerManagerPorts, "clock" | "logger">) {
    this.#ports = ports;
  }

  onRefused(reason: string, group: string, client: string): void {
    this.#count++;
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs - this.#loggedMs < LOG_INTERVAL_MS) return;
    this.#loggedMs = nowMs;
    this.#ports.logger.warn("a consumer offset was refused", {
      reason,
      group,
      client,
      refusedSinceStart: this.#count,
    });
  }
}
