/**
 * Files of queues that somebody has removed: the log has their records, so a queue that lacks a
 * file is built again.
 *
 * A file missing in the middle shows by itself, one at the end by the offsets of later records or
 * by their sum. A first file goes for good reasons too, when the log has none of its records any
 * more: the checkpoint of a clean stop knows where the queues began.
 */
import type { Logger } from "../io/logger.ts";
import type { ConsumeQueue } from "./consume_queue.ts";
import type { ConsumeQueueStore } from "./consume_queue_store.ts";
import type { StoreCheckpoint } from "./store_checkpoint.ts";

/** Sum of the queue offsets at which the queues begin. */
export function queueStartSum(queues: ConsumeQueueStore): number {
  let sum = 0;
  for (const queue of queuesOf(queues)) sum += queue.startOffset;
  return sum;
}

/**
 * Queues without the file before their first one, although the log, which begins at
 * `minPhyOffset`, may have its records: `lacking` by the checkpoint of a clean stop, `doubtful`
 * without one.
 */
export function queuesWithoutStart(
  queues: ConsumeQueueStore,
  checkpoint: StoreCheckpoint,
  minPhyOffset: number,
  lastExitOk: boolean,
): { lacking: ConsumeQueue[]; doubtful: ConsumeQueue[] } {
  const noted = lastExitOk ? checkpoint.cleanQueueStartSum : 0;
  const known = noted > 0 ? noted - 1 : null;
  if (known === queueStartSum(queues)) return { lacking: [], doubtful: [] };
  const found = [...queuesOf(queues)].filter((it) =>
    beginsLate(it, minPhyOffset)
  );
  return known === null
    ? { lacking: [], doubtful: found }
    : { lacking: found, doubtful: [] };
}

/** What recovery will not build again by itself. */
export function tellDoubtfulQueues(
  doubtful: readonly ConsumeQueue[],
  logger: Logger,
): void {
  for (const { topic, queueId, startOffset } of doubtful) {
    logger.warn(
      "A queue may lack its first file: `pocketmq store verify` tells, and a queue folder that " +
        "is moved away is built again",
      { topic, queueId, startOffset },
    );
  }
}

/**
 * Empties queues that lack files, so that dispatch can build them again from the whole log.
 * `markUnclean` makes `abort`.
 */
export async function resetLackingQueues(
  queues: ConsumeQueueStore,
  lacking: readonly ConsumeQueue[],
  checkpoint: StoreCheckpoint,
  markUnclean: () => Promise<void>,
  logger: Logger,
): Promise<void> {
  if (lacking.length === 0) return;
  // A stop from here on must not leave the rest of a queue for all of it.
  checkpoint.logicsMsgTimestamp = 0;
  await checkpoint.flush();
  await markUnclean();
  for (const { topic, queueId } of lacking) {
    logger.warn(
      "A queue lacks a file: it is built again from the whole log",
      { topic, queueId },
    );
    await queues.resetQueue(topic, queueId);
  }
}

/** True when the first record of a queue that does not begin at 0 is not the log's first. */
function beginsLate(queue: ConsumeQueue, minPhyOffset: number): boolean {
  if (queue.startOffset === 0) return false;
  const unit = queue.unit(queue.startOffset);
  return unit !== undefined && unit.phyOffset > minPhyOffset;
}

function* queuesOf(queues: ConsumeQueueStore): Iterable<ConsumeQueue> {
  for (const topic of queues.topics()) {
    for (const queueId of queues.queueIds(topic)) {
      yield queues.get(topic, queueId)!;
    }
  }
}
