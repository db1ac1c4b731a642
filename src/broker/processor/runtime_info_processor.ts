/** GET_BROKER_RUNTIME_INFO (28): the table that tools and slaves read (reference 2.10). */
import { javaDouble } from "../../base/java_double.ts";
import type { Clock } from "../../io/clock.ts";
import { decodeMessageRecord } from "../../model/message_record.ts";
import { TopicNames } from "../../model/topic_names.ts";
import { encodeKVTable } from "../../protocol/body/kv_table.ts";
import { POCKETMQ_VERSION_ORDINAL } from "../../protocol/remoting_command.ts";
import { mqVersionDesc } from "../../protocol/mq_version.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import type {
  ProcessorTable,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import type { RpcStats } from "../../remoting/rpc_stats.ts";
import type { BrokerOptions } from "../broker_options.ts";
import type { BrokerStats, PutCounters } from "../broker_stats.ts";
import { type ProcessorName, watermarksOf } from "../processor_watermarks.ts";
import type { DelayOffsets } from "../schedule_message_service.ts";
import { bodyResponse } from "./admin_response.ts";

/** What the table says of the store. */
export interface RuntimeInfoStore {
  readonly minPhyOffset: number;
  readonly maxPhyOffset: number;
  readonly flushedOffset: number;
  readonly dispatchBehindBytes: number;
  readonly counters: PutCounters;
  getMaxOffsetInQueue(topic: string, queueId: number): number;
  selectOneMessageByOffset(phyOffset: number): Promise<Uint8Array | undefined>;
}

/** What the processor works on. */
export interface RuntimeInfoDeps {
  readonly clock: Clock;
  readonly options: () => BrokerOptions;
  readonly messageStore: RuntimeInfoStore;
  readonly brokerStats: BrokerStats;
  readonly schedule: {
    offsets(): DelayOffsets;
    readonly timers: TimerFigures;
  };
  /** By code. */
  readonly requests: ReadonlyMap<number, RpcStats>;
  /** Of the store's disk; may throw a FileError. */
  diskSpace(): { readonly totalBytes: number; readonly freeBytes: number };
}

/** What the table says of timers. */
export interface TimerFigures {
  /** Null on a slave. */
  readonly store: {
    readonly nextAtMs: number | undefined;
    readonly pendingCount: number;
  } | null;
  readonly unreadCount: number;
  readonly enqueueTps: number;
  readonly dequeueTps: number;
}

/**
 * Java's thread pools: the key, the processor whose requests it serves, its default capacity.
 * Here one event loop begins every request at once, so that none waits for it; the size is of
 * those that are in progress, waiting for a disk or a slave.
 */
const POOLS: readonly (readonly [string, ProcessorName, number])[] = [
  ["sendThreadPoolQueue", "send", 10_000],
  ["pullThreadPoolQueue", "pull", 100_000],
  ["litePullThreadPoolQueue", "lite_pull", 100_000],
  ["queryThreadPoolQueue", "query_message", 20_000],
  ["ackThreadPoolQueue", "ack", 100_000],
];
/** As Java shows a pool of buffers that is not there. */
const NO_TRANSIENT_POOL = 2_147_483_647;

/** The processor by request code. */
export function runtimeInfoProcessors(deps: RuntimeInfoDeps): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [
      RequestCode.GET_BROKER_RUNTIME_INFO,
      async () => bodyResponse(encodeKVTable(await runtimeInfo(deps))),
    ],
  ]);
}

/** The table. */
export async function runtimeInfo(
  deps: RuntimeInfoDeps,
): Promise<Map<string, string>> {
  const { messageStore: store } = deps;
  const watermarks = watermarksOf(deps.requests);
  const table: Record<string, string | number> = {
    brokerActive: String(deps.options().brokerRole !== "SLAVE"),
    brokerVersionDesc: mqVersionDesc(POCKETMQ_VERSION_ORDINAL),
    brokerVersion: POCKETMQ_VERSION_ORDINAL,
    dispatchBehindBytes: store.dispatchBehindBytes,
    pageCacheLockTimeMills: 0,
    earliestMessageTimeStamp: await earliestMessageTime(store),
    startAcceptSendRequestTimeStamp: deps.options()
      .startAcceptSendRequestTimeStamp,
    commitLogMinOffset: store.minPhyOffset,
    commitLogMaxOffset: store.maxPhyOffset,
    remainTransientStoreBufferNumbs: NO_TRANSIENT_POOL,
    remainHowManyDataToFlush: humanReadableByteCount(
      Math.max(0, store.maxPhyOffset - store.flushedOffset),
    ),
    EndTransactionQueueSize: watermarks.get("transaction")!,
    EndTransactionThreadPoolQueueCapacity: 100_000,
    ...timerInfo(deps),
    ...statsInfo(deps),
    ...diskInfo(deps),
    ...scheduleInfo(deps),
  };
  for (const [pool, processor, capacity] of POOLS) {
    table[`${pool}Size`] = watermarks.get(processor)!;
    table[`${pool}Capacity`] = capacity;
    table[`${pool}HeadWaitTimeMills`] = 0;
  }
  return new Map(
    Object.entries(table).map(([key, value]) => [key, String(value)]),
  );
}

function statsInfo(
  { clock, brokerStats, messageStore }: RuntimeInfoDeps,
): Record<string, string | number> {
  const { getTotals, pull, putTotals } = brokerStats;
  const { putCount, putBytes, putFailedCount } = messageStore.counters;
  // As Java, which never divides by 0.
  const putTimesTotal = Math.max(1, putCount);
  const transferredTps = brokerStats.tps("getTransferred");
  return {
    msgPutTotalYesterdayMorning: putTotals.yesterday,
    msgPutTotalTodayMorning: putTotals.today,
    msgPutTotalTodayNow: putTotals.now,
    msgGetTotalYesterdayMorning: getTotals.yesterday,
    msgGetTotalTodayMorning: getTotals.today,
    msgGetTotalTodayNow: getTotals.now,
    bootTimestamp: brokerStats.bootMs,
    runtime: formatRuntime(clock.monotonicMs() - brokerStats.startedMs),
    putMessageEntireTimeMax: brokerStats.putTimes.maxMs,
    putMessageTimesTotal: putTimesTotal,
    putMessageFailedTimes: putFailedCount,
    putMessageSizeTotal: putBytes,
    putMessageDistributeTime: brokerStats.putTimes.distribution(),
    putMessageAverageSize: javaDouble(putBytes / putTimesTotal),
    // As in Java, where nothing sets it.
    dispatchMaxBuffer: 0,
    getMessageEntireTimeMax: pull.timeMaxMs,
    putTps: brokerStats.tps("put"),
    getFoundTps: brokerStats.tps("getFound"),
    getMissTps: brokerStats.tps("getMiss"),
    getTotalTps: brokerStats.tps("getFound", "getMiss"),
    getTransferredTps: transferredTps,
    // 4.9 spells it so, and its clusterList fails without it.
    getTransferedTps: transferredTps,
    putLatency99: brokerStats.putTimes.percentile(0.99).toFixed(2),
    putLatency999: brokerStats.putTimes.percentile(0.999).toFixed(2),
  };
}

function diskInfo(deps: RuntimeInfoDeps): Record<string, string> {
  let ratio = "-1.0";
  let capacity = "Total : unknown, Free : unknown.";
  try {
    const { totalBytes, freeBytes } = deps.diskSpace();
    ratio = javaDouble(
      totalBytes > 0 ? (totalBytes - freeBytes) / totalBytes : 0,
    );
    capacity = `Total : ${humanReadableByteCount(totalBytes)}, ` +
      `Free : ${humanReadableByteCount(freeBytes)}.`;
  } catch {
    // A disk that does not answer is shown as Java shows a missing path: -1.
  }
  const path = `${deps.options().storePathRootDir}/commitlog`;
  return {
    commitLogDiskRatio: ratio,
    // 5.x may spread its log over paths, and shows each.
    [`commitLogDiskRatio_${path}`]: ratio,
    consumeQueueDiskRatio: ratio,
    commitLogDirCapacity: capacity,
  };
}

function timerInfo(
  { clock, schedule }: RuntimeInfoDeps,
): Record<string, string | number> {
  const { timers } = schedule;
  const behindMs = clock.nowMs() - (timers.store?.nextAtMs ?? Infinity);
  return {
    // Seconds.
    timerReadBehind: Math.max(0, Math.floor(behindMs / 1_000)),
    timerOffsetBehind: timers.unreadCount,
    timerCongestNum: timers.store?.pendingCount ?? 0,
    timerEnqueueTps: javaDouble(timers.enqueueTps),
    timerDequeueTps: javaDouble(timers.dequeueTps),
  };
}

/** `scheduleMessageOffset_<level>` = `delivered,max`. */
function scheduleInfo(
  { messageStore, schedule }: RuntimeInfoDeps,
): Record<string, string> {
  const info: Record<string, string> = {};
  for (const [level, offset] of schedule.offsets()) {
    if (level < 1) continue;
    const max = messageStore.getMaxOffsetInQueue(
      TopicNames.RMQ_SYS_SCHEDULE_TOPIC,
      level - 1,
    );
    info[`scheduleMessageOffset_${level}`] = `${offset},${max}`;
  }
  return info;
}

/** Store time of the first record, or -1. */
async function earliestMessageTime(store: RuntimeInfoStore): Promise<number> {
  if (store.minPhyOffset >= store.maxPhyOffset) return -1;
  const record = await store.selectOneMessageByOffset(store.minPhyOffset);
  if (record === undefined) return -1;
  try {
    return decodeMessageRecord(record).storeTimestamp;
  } catch {
    // A broken first record must not hide all other numbers.
    return -1;
  }
}

/** `[ 0 days, 1 hours, 2 minutes, 3 seconds ]`. */
function formatRuntime(elapsedMs: number): string {
  const seconds = Math.max(0, Math.floor(elapsedMs / 1000));
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds % 86_400 / 3_600);
  const minutes = Math.floor(seconds % 3_600 / 60);
  return `[ ${days} days, ${hours} hours, ${minutes} minutes, ` +
    `${seconds % 60} seconds ]`;
}

/** `512 B`, `1.5 KiB`. */
function humanReadableByteCount(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes;
  let unit = -1;
  while (value >= 1024 && unit < 5) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(1)} ${"KMGTPE"[unit]}iB`;
}
