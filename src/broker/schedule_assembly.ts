/** ScheduleAssembly: wires the delivery of delay levels and timers to one run of a broker. */
import type { HACoordinator } from "../ha/ha_coordinator.ts";
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { BrokerOptions } from "./broker_options.ts";
import type { BrokerParts } from "./broker_parts.ts";
import { DeferredDelivery } from "./deferred_delivery.ts";
import type { HAFence } from "./ha_fence.ts";
import { ScheduleMessageShell } from "./schedule_message_shell.ts";
import { TimerMessageShell } from "./timer/timer_message_shell.ts";

/** Delivers on a master that is not fenced. */
export function assembleSchedule(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  options: BrokerOptions,
  parts: BrokerParts,
  ha: HACoordinator,
  fence: () => HAFence,
): DeferredDelivery {
  const messages = parts.messageStore.delayedMessages;
  const shared = {
    clock,
    file: parts.delayOffsetFile,
    store: ha.store,
    stats: parts.brokerStatsManager,
    mayDeliver: () => fence().refusal() === null,
    hasTopic: (topic: string) =>
      parts.topicConfigManager.selectTopicConfig(topic) !== undefined,
  };
  const isMaster = () => ha.role !== "SLAVE";
  return new DeferredDelivery(
    new ScheduleMessageShell({
      ...shared,
      logger: logger.child("schedule"),
      messages,
      isMaster,
    }, options.flushDelayOffsetInterval),
    new TimerMessageShell({
      ...shared,
      logger: logger.child("timer"),
      messages: messages.timers,
      checkpointFile: parts.timerCheckpointFile,
      metrics: parts.timerMetrics,
      isMaster: () => options.timerWheelEnable && isMaster(),
    }, options),
  );
}
