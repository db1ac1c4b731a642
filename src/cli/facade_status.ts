/** What /readyz, /admin/clients, /admin/store and /admin/routes say of a broker. */
import type { ClientAdmin, ClientView } from "../admin/client_routes.ts";
import type { HealthCheck } from "../admin/health_routes.ts";
import type { RoutesView } from "../admin/route_routes.ts";
import type { StoreView } from "../admin/store_routes.ts";
import { timersView } from "./facade_timer_metrics.ts";
import { ProblemError } from "../admin/problem.ts";
import type { BrokerController } from "../broker/broker_controller.ts";
import type { ClientChannelInfo } from "../broker/client_channel_info.ts";
import { decodeMessageRecord } from "../model/message_record.ts";
import type { HAState } from "../ha/ha_state.ts";
import type { NamesrvController } from "../namesrv/namesrv_controller.ts";
import { listAsideFolders } from "../store/store_aside.ts";
import { visibilityOf } from "../store/store_options.ts";
import type { RunningBroker } from "./broker_server.ts";

function check(name: string, detail: string | null): HealthCheck {
  return { name, ok: detail === null, detail };
}

/** The conditions of readiness. */
export function healthChecks({ broker }: RunningBroker): HealthCheck[] {
  if (!broker.isReady) return [check("broker", waitingFor(broker))];
  const store = broker.messageStore;
  const isSlave = broker.ha.role === "SLAVE";
  // A slave is to take no writes: it is ready when it takes its master's bytes and serves reads.
  const unusable = isSlave
    ? store.replicaLog.unappendableReason
    : store.isWritable
    ? null
    : store.unwritableReason ?? "it takes no writes";
  const metadata = broker.parts.metadataFiles.map((it) => it.degradedReason)
    .find((it) => it !== null) ?? null;
  return [
    check("broker", null),
    check("fence", broker.fence.refusal()),
    check("store", unusable),
    check("dispatch", store.degradedReason),
    check("metadata", metadata),
    ...(isSlave ? [linkCheck(broker.ha.state())] : []),
  ];
}

/** Shown, and never decisive: a slave whose master is away is what reads are to find. */
function linkCheck({ reason, state }: HAState): HealthCheck {
  const detail = reason === null ? state : `${state}: ${reason}`;
  return { name: "replication", ok: true, detail };
}

/** The answer to whatever needs a broker that is not ready. */
export function notReady(
  { isRestarting }: { isRestarting: boolean },
): ProblemError {
  return new ProblemError(
    503,
    isRestarting
      ? "A change of the role of this broker, or a re-seed, is on its way: try again in some seconds"
      : "The broker is starting or stopping: try again in some seconds",
  );
}

const MIB = 1_048_576;

/** Of a broker that is not ready; a long recovery must not look like a hang. */
function waitingFor(
  { isRestarting, recoveryProgress: it }: Pick<
    BrokerController,
    "isRestarting" | "recoveryProgress"
  >,
): string {
  if (it === null) {
    return isRestarting
      ? "a change of its role, or a re-seed, is on its way"
      : "it is starting or stopping";
  }
  const mib = (bytes: number) => (bytes / MIB).toFixed(1);
  return `it is starting: ${mib(it.offset - it.startOffset)} of ${
    mib(it.endOffset - it.startOffset)
  } MiB of the commit log are recovered`;
}

/** Producers and consumers. */
export function clientFacade({ broker }: RunningBroker): ClientAdmin {
  return {
    connectionCount: () => broker.remotingServer.connectionCount,
    clients: () => [...clientsOf(broker)],
  };
}

function* clientsOf(broker: BrokerController): Iterable<ClientView> {
  const { consumerManager, producerManager } = broker.parts;
  for (const [group, clients] of producerManager.groups()) {
    for (const it of clients.values()) yield clientView("producer", group, it);
  }
  for (const group of consumerManager.groupNames()) {
    const info = consumerManager.getConsumerGroupInfo(group);
    for (const it of info?.clients.values() ?? []) {
      yield clientView("consumer", group, it);
    }
  }
}

function clientView(
  kind: ClientView["kind"],
  group: string,
  it: ClientChannelInfo,
): ClientView {
  return {
    kind,
    group,
    clientId: it.clientId,
    address: it.connection.remoteAddress,
    language: it.language,
    version: it.version,
    lastUpdateTimestamp: it.lastUpdateTimestamp,
  };
}

/** Offsets, sizes and the disk. */
export async function storeView(
  { broker, context }: RunningBroker,
): Promise<StoreView> {
  const store = broker.messageStore;
  const { options, counters } = store;
  return {
    storePathRootDir: options.storePathRootDir,
    isWritable: store.isWritable,
    unwritableReason: store.unwritableReason,
    commitLogMinOffset: store.minPhyOffset,
    commitLogMaxOffset: store.maxPhyOffset,
    flushedOffset: store.flushedOffset,
    confirmOffset: store.confirmOffset,
    flushBehindBytes: Math.max(0, store.maxPhyOffset - store.flushedOffset),
    dispatchBehindBytes: store.dispatchBehindBytes,
    mappedFileSizeCommitLog: options.mappedFileSizeCommitLog,
    mappedFileSizeConsumeQueue: options.mappedFileSizeConsumeQueue,
    flushDiskType: options.flushDiskType,
    messageVisibleAfter: visibilityOf(options),
    earliestMessageTimestamp: await earliestMessageMs(broker),
    putMessageTimesTotal: counters.putCount,
    putMessageSizeTotal: counters.putBytes,
    asideFolders: listAsideFolders(context.runtime.fileSystem, options)
      .flatMap(({ note, path }) => note === null ? [] : [{ path, ...note }]),
    timers: timersView(broker),
    disk: diskView(context, options.storePathRootDir),
  };
}

function diskView(
  context: RunningBroker["context"],
  path: string,
): StoreView["disk"] {
  try {
    const { totalBytes, freeBytes } = context.runtime.fileSystem.diskSpace(
      path,
    );
    return {
      totalBytes,
      freeBytes,
      usedRatio: totalBytes === 0 ? 0 : 1 - freeBytes / totalBytes,
    };
  } catch {
    return null; // Shown as unknown: the answer must not fail for it.
  }
}

/** Store time of the first record of the log; null when there is none. */
export async function earliestMessageMs(
  broker: BrokerController,
): Promise<number | null> {
  const store = broker.messageStore;
  if (store.maxPhyOffset <= store.minPhyOffset) return null;
  const record = await store.selectOneMessageByOffset(store.minPhyOffset);
  if (record === undefined) return null;
  try {
    return decodeMessageRecord(record).storeTimestamp;
  } catch {
    return null; // A broken first record must not hide all other numbers.
  }
}

/** What the name server of this process tells clients. */
export function routesView(
  namesrv: NamesrvController | undefined,
): RoutesView | undefined {
  if (namesrv === undefined) return undefined;
  const { brokers, topics } = namesrv.routeInfoManager;
  const info = brokers.clusterInfo();
  return {
    brokers: [...info.brokerAddrTable.values()].map((it) => ({
      clusterName: it.cluster,
      brokerName: it.brokerName,
      addresses: Object.fromEntries(
        [...it.brokerAddrs].map(([id, address]) => [String(id), address]),
      ),
    })),
    topics: topics.topics().sort(),
  };
}
