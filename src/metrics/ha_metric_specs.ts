/** The rocketmq_ha_* metrics: the same numbers as /admin/ha. */
import type { SlaveMetrics } from "./broker_metrics_source.ts";
import { counter, gauge, type MetricSpec } from "./metric_spec.ts";

const STATES = [
  "healthy",
  "catching-up",
  "degraded",
  "stalled",
  "needs-reseed",
  "diverged",
  "disconnected",
  "alone",
];

function ofSlaves(
  name: string,
  help: string,
  numberOf: (slave: SlaveMetrics) => number | null,
): MetricSpec {
  return {
    name,
    help,
    kind: "gauge",
    samples: ({ ha }) =>
      ha.slaves.flatMap((it) => {
        const value = numberOf(it);
        return value === null ? [] : [{ labels: { slave: it.slave }, value }];
      }),
  };
}

/** Metrics of replication. */
export const HA_METRICS: readonly MetricSpec[] = [
  {
    name: "rocketmq_ha_state",
    help: "1 for the state that replication is in",
    kind: "gauge",
    samples: ({ ha }) =>
      STATES.map((it) => ({
        labels: { state: it },
        value: it === ha.state ? 1 : 0,
      })),
  },
  gauge(
    "rocketmq_ha_connections",
    "Links of the replication port",
    ({ ha }) => ha.connectionCount,
  ),
  gauge(
    "rocketmq_ha_slaves_connected",
    "Slaves that are connected",
    ({ ha }) => ha.slaves.length,
  ),
  gauge(
    "rocketmq_ha_slaves_in_sync",
    "Slaves that are in sync",
    ({ ha }) => ha.inSyncSlaveNums,
  ),
  gauge(
    "rocketmq_ha_pending_sync_requests",
    "Messages that wait for a slave",
    ({ ha }) => ha.pendingSyncRequests,
  ),
  gauge(
    "rocketmq_ha_replicated_offset",
    "Commit log offset that slaves have acknowledged",
    ({ ha }) => ha.replicatedOffset,
  ),
  ofSlaves(
    "rocketmq_ha_slave_lag_bytes",
    "Bytes that a slave has not acknowledged",
    (it) => it.lagBytes,
  ),
  ofSlaves(
    "rocketmq_ha_slave_lag_milliseconds",
    "Time since the log grew beyond what a slave has acknowledged",
    (it) => it.lagMs,
  ),
  ofSlaves(
    "rocketmq_ha_slave_transferred_bytes_per_second",
    "Bytes sent to a slave in the last second",
    (it) => it.bytesInSecond,
  ),
  counter(
    "rocketmq_ha_connections_accepted_total",
    "Connections accepted on the replication port",
    ({ ha }) => ha.acceptedCount,
  ),
  counter(
    "rocketmq_ha_connections_refused_total",
    "Connections refused by haAllowedPeers",
    ({ ha }) => ha.refusedCount,
  ),
  counter(
    "rocketmq_ha_protocol_errors_total",
    "Links closed for what they sent",
    ({ ha }) => ha.protocolErrorCount,
  ),
  gauge(
    "rocketmq_ha_master_lag_bytes",
    "Bytes that this slave is behind its master",
    ({ ha }) => ha.masterLagBytes,
  ),
  gauge(
    "rocketmq_ha_master_lag_milliseconds",
    "Time that this slave is behind its master",
    ({ ha }) => ha.masterLagMs,
  ),
  counter(
    "rocketmq_ha_reconnects_total",
    "Times that this slave has connected to its master again",
    ({ ha }) => ha.reconnectCount,
  ),
];
