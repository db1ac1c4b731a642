/** Timer messages over a running broker: for a scrape, and for the admin port. */
import type { StoreView } from "../admin/store_routes.ts";
import type { BrokerController } from "../broker/broker_controller.ts";
import { unreadForMs } from "../broker/timer/timer_unread.ts";
import type {
  TimerDeliveryMetrics,
  TimerMessageMetrics,
} from "../metrics/broker_metrics_source.ts";

/** Seconds: 5 s, 1, 5 and 15 min, 1, 4, 8 and 24 h; those of RocketMQ. */
const BOUNDS_S = [5, 60, 300, 900, 3_600, 14_400, 28_800, 86_400];

/** What a scrape shows. */
export async function timerMetrics(
  broker: BrokerController,
  nowMs: number,
): Promise<TimerMessageMetrics> {
  const { timerMetrics: metrics } = broker.parts;
  return {
    delivery: await deliveryOf(broker, nowMs),
    timing: metrics.timingCounts,
    ...metrics.counters,
  };
}

async function deliveryOf(
  { messageStore, schedule: { timers } }: BrokerController,
  nowMs: number,
): Promise<TimerDeliveryMetrics | null> {
  const { store, unreadCount } = timers;
  if (store === null) return null;
  const counts = store.countsUntil(BOUNDS_S.map((it) => nowMs + it * 1_000));
  const overdueMs = nowMs - (store.nextAtMs ?? Infinity);
  return {
    unreadCount,
    pendingCount: store.pendingCount,
    overdueSeconds: Math.max(0, Math.floor(overdueMs / 1_000)),
    dueWithin: counts.map((count, at) => ({
      boundSeconds: BOUNDS_S[at]!,
      count,
    })),
    unreadMs: unreadCount === 0 ? 0 : await unreadForMs(
      messageStore.delayedMessages.timers,
      store.tail,
      nowMs,
    ),
  };
}

/** What /admin/store shows. */
export function timersView(
  { parts: { timerMetrics }, schedule: { timers } }: BrokerController,
): StoreView["timers"] {
  const { store, unreadCount } = timers;
  if (store === null) return null;
  const { dequeuedCount, enqueuedCount, lastLatenessMs } = timerMetrics;
  return {
    pending: store.pendingCount,
    unread: unreadCount,
    nextDueTimestamp: store.nextAtMs ?? null,
    enqueuedTotal: enqueuedCount,
    deliveredTotal: dequeuedCount,
    lastLatenessMs,
    lost: store.lostCount,
  };
}
