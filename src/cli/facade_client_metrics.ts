/** Who is connected and what was asked, for /metrics. */
import type { BrokerController } from "../broker/broker_controller.ts";
import type { ClientChannelInfo } from "../broker/client_channel_info.ts";
import type { ExecutionTime } from "../broker/execution_times.ts";
import type {
  ConsumerConnectionMetrics,
  ExecutionTimeMetrics,
  ProducerConnectionMetrics,
  RpcMetrics,
} from "../metrics/broker_metrics_source.ts";
import type { ScrapePace } from "../metrics/scrape_pace.ts";
import type { ConsumeType } from "../model/heartbeat_data.ts";
import { isSystemGroup } from "../model/validators.ts";
import { languageByte, languageName } from "../protocol/language_code.ts";
import { mqVersionDesc } from "../protocol/mq_version.ts";
import { requestCodeName } from "../protocol/request_code.ts";
import { responseCodeName } from "../protocol/response_code.ts";
import type { RpcStats } from "../remoting/rpc_stats.ts";

/** All codes without a processor: a peer can invent as many as it likes. */
const UNSUPPORTED_CODE = "unsupported";

const CONSUME_MODES: Readonly<Record<ConsumeType, string>> = {
  CONSUME_ACTIVELY: "pull",
  CONSUME_PASSIVELY: "push",
  CONSUME_POP: "pop",
};

/** Producers by language and version; a client counts once per group, as in Apache. */
export function producerConnections(
  { parts }: BrokerController,
): ProducerConnectionMetrics[] {
  const counts = new Map<string, ProducerConnectionMetrics>();
  for (const clients of parts.producerManager.groups().values()) {
    countClients(counts, clients.values());
  }
  return [...counts.values()];
}

/** Consumers by group, language and version. */
export async function consumerConnections(
  { parts }: BrokerController,
  pace: ScrapePace,
): Promise<ConsumerConnectionMetrics[]> {
  const { consumerManager } = parts;
  const connections: ConsumerConnectionMetrics[] = [];
  await pace.each(consumerManager.groupNames(), (group) => {
    // It may have left meanwhile.
    const info = consumerManager.getConsumerGroupInfo(group);
    if (info === undefined) return;
    const counts = new Map<string, ProducerConnectionMetrics>();
    countClients(counts, info.clients.values());
    for (const it of counts.values()) {
      connections.push({
        ...it,
        group,
        consumeMode: CONSUME_MODES[info.consumeType],
        isSystem: isSystemGroup(group),
      });
    }
  });
  return connections;
}

function countClients(
  counts: Map<string, ProducerConnectionMetrics>,
  clients: Iterable<ClientChannelInfo>,
): void {
  for (const client of clients) {
    // A peer may send any name: unknown ones are one.
    const language = languageName(languageByte(client.language)).toLowerCase();
    const version = mqVersionDesc(client.version).toLowerCase();
    const key = `${language} ${version}`;
    const count = (counts.get(key)?.count ?? 0) + 1;
    counts.set(key, { language, version, count });
  }
}

/** Answers by what was asked and what was said. */
export function rpcMetrics({ remotingServer }: BrokerController): RpcMetrics[] {
  const { requests, unknown } = remotingServer.counters;
  const metrics: RpcMetrics[] = [];
  for (const [code, stats] of requests) {
    metrics.push(...outcomes(requestCodeName(code).toLowerCase(), stats));
  }
  metrics.push(...outcomes(UNSUPPORTED_CODE, unknown));
  return metrics;
}

function outcomes(requestCode: string, stats: RpcStats): RpcMetrics[] {
  return stats.outcomes.map((it) => ({
    requestCode,
    responseCode: responseCodeName(it.responseCode).toLowerCase(),
    isLongPolling: it.isLongPolling,
    result: it.result,
    latencyMs: it.latencyMs,
  }));
}

/** Topics or groups made. */
export function executionTimes(
  times: readonly ExecutionTime[],
): ExecutionTimeMetrics[] {
  return times.map(({ isSuccess, isSystem, timeMs }) => ({
    invocationStatus: isSuccess ? "success" : "failure",
    ...(isSystem === undefined ? {} : { isSystem }),
    timeMs,
  }));
}
