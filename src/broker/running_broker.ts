/** What a run of the broker does to all its parts, again and again. */
import type { Clock } from "../io/clock.ts";
import { TIMER_TOPIC } from "../store/timer_time.ts";
import type { RunningBroker } from "./broker_assembly.ts";
import type { BrokerMetadata } from "./broker_metadata.ts";
import type { BrokerParts } from "./broker_parts.ts";
import type { HAMasterWatch } from "./ha_master_watch.ts";

/** Every 100 ms: lets every part look at the clock, the store first. */
export function tickBroker(
  running: RunningBroker,
  masterWatch: HAMasterWatch,
  clock: Clock,
): void {
  const {
    fence,
    ha,
    metadata,
    neighbours,
    parts,
    pop,
    processors,
    registration,
    schedule,
  } = running;
  const nowMs = clock.nowMs();
  parts.messageStore.tick(nowMs);
  ha.tick();
  masterWatch.tick();
  parts.tick(nowMs);
  schedule.tick();
  pop.tick();
  processors.transactions.tick(clock.monotonicMs());
  metadata.tick();
  neighbours.tick();
  fence.tick();
  registration.tick();
}

/** Whoever waits for messages of a queue is told of each that dispatch lets it see. */
export function listenToArrivals(
  { messageStore, popLongPollingService, pullRequestHoldService }: BrokerParts,
  metadata: Pick<BrokerMetadata, "onArriving">,
  timers: { onArriving(): void },
): void {
  messageStore.messageArrivingListener = (
    topic,
    queueId,
    nextOffset,
    tagsCode,
    _storeTimestamp,
    propertiesText,
  ) => {
    pullRequestHoldService.notifyMessageArriving(
      topic,
      queueId,
      nextOffset,
      tagsCode,
      propertiesText,
    );
    popLongPollingService.notifyMessageArriving(
      topic,
      queueId,
      tagsCode,
      propertiesText,
    );
    metadata.onArriving(topic);
    if (topic === TIMER_TOPIC) timers.onArriving();
  };
}
