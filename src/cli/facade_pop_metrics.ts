/** PopMetrics over a running broker. */
import type { BrokerController } from "../broker/broker_controller.ts";
import type { PopMetrics } from "../metrics/broker_metrics_source.ts";

/** What is popped and what came of it. */
export function popMetrics(
  { parts, pop }: BrokerController,
  nowMs: number,
): PopMetrics {
  const { log } = pop;
  const { gets, puts, retries } = log.stats;
  const due = log.table.due(nowMs);
  return {
    checkPointCount: log.table.size,
    inflightMessages: log.table.inFlightCount,
    heldRequests: parts.popLongPollingService.heldCount,
    queues: log.queues().map((_, queueId) => ({
      queueId,
      ...due.get(queueId) ?? { dueCount: 0, lateMs: 0 },
    })),
    puts,
    gets,
    retries,
  };
}
