/** Keys of /metrics: RocketMQ's own spelling where it has them. */
import { choice, flag, integer, port, text } from "./config_key.ts";
import { host } from "./host_key.ts";

const LIVE = { isLive: true } as const;
/** A name of a label may be anything that Prometheus takes. */
const LABEL_PAIR = /^[a-zA-Z_][a-zA-Z0-9_]*:[^:,]*$/;

/** What is measured and who is told. */
export const METRICS_KEYS = {
  metricsLagGroupMax: integer(
    200,
    "Groups whose lag is measured at one scrape of /metrics",
    LIVE,
  ),
  metricsOtelCardinalityLimit: integer(
    50_000,
    "Samples of one metric; what counts beyond is summed up in one, gauges beyond are left out",
    { ...LIVE, min: 1 },
  ),
  metricsLabel: text("", "Labels of every metric, as key:value,key:value", {
    errorOf: (value) =>
      value.split(",").every((it) => it === "" || LABEL_PAIR.test(it))
        ? undefined
        : "give key:value pairs separated by commas",
  }),
  metricsOfExporterEnable: flag(
    false,
    "Add the names of RocketMQ's 4.x exporter to /metrics",
    LIVE,
  ),
  metricsExporterType: choice(
    ["DISABLE", "OTLP_GRPC", "PROM", "LOG", "0", "1", "2", "3"],
    "DISABLE",
    "PROM serves /metrics on metricsPromExporterPort too",
  ),
  metricsPromExporterPort: port(5_557, "Port of metricsExporterType=PROM"),
  metricsPromExporterHost: host(
    "",
    "Address of metricsExporterType=PROM; empty is brokerIP1",
    { isEmptyFine: true },
  ),
} as const;
