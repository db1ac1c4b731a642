/** ScheduleAssembly: wires the delivery of delay levels to one run of a broker. */
import type { HACoordinator } from "../ha/ha_coordinator.ts";
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { BrokerOptions } from "./broker_options.ts";
import type { BrokerParts } from "./broker_parts.ts";
import type { HAFence } from "./ha_fence.ts";
import { ScheduleMessageShell } from "./schedule_message_shell.ts";

/** Delivers on a master that is not fenced. */
export function assembleSchedule(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  { flushDelayOffsetInterval }: BrokerOptions,
  parts: BrokerParts,
  ha: HACoordinator,
  fence: () => HAFence,
): ScheduleMessageShell {
  return new ScheduleMessageShell({
    clock,
    logger: logger.child("schedule"),
    messages: parts.messageStore.delayedMessages,
    file: parts.delayOffsetFile,
    store: ha.store,
    stats: parts.brokerStatsManager,
    isMaster: () => ha.role !== "SLAVE",
    mayDeliver: () => fence().refusal() === null,
    hasTopic: (topic) =>
      parts.topicConfigManager.selectTopicConfig(topic) !== undefined,
  }, flushDelayOffsetInterval);
}
