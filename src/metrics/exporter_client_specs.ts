/** The exporter's rocketmq_client_* gauges: what consumers say of themselves (307). */
import type { ExporterClient } from "./exporter_snapshot.ts";
import type { NumberSpec } from "./metric_spec.ts";

function ofClients(
  name: string,
  help: string,
  valueOf: (row: ExporterClient) => number,
): NumberSpec {
  return {
    kind: "gauge",
    name: `rocketmq_client_${name}`,
    help,
    samples: ({ exporter }) =>
      (exporter?.clients ?? []).map((row) => ({
        labels: {
          clientAddr: row.address,
          clientId: row.clientId,
          group: row.group,
          topic: row.topic,
        },
        value: valueOf(row),
      })),
  };
}

/** One sample per client, group and topic. */
export const CLIENT_GAUGES: readonly NumberSpec[] = [
  ofClients(
    "consume_fail_msg_count",
    "Messages that failed in the last hour",
    (it) => it.consumeFailedMsgs,
  ),
  ofClients(
    "consume_fail_msg_tps",
    "Messages a second that failed",
    (it) => it.consumeFailedTPS,
  ),
  ofClients(
    "consume_ok_msg_tps",
    "Messages a second that were consumed",
    (it) => it.consumeOKTPS,
  ),
  ofClients(
    "consume_rt",
    "Milliseconds that consuming took",
    (it) => it.consumeRT,
  ),
  ofClients(
    "consumer_pull_rt",
    "Milliseconds that a pull took",
    (it) => it.pullRT,
  ),
  ofClients(
    "consumer_pull_tps",
    "Messages pulled a second",
    (it) => it.pullTPS,
  ),
];
