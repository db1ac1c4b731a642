/**
 * BrokerMetrics: the metrics of one broker in the text format of Prometheus.
 * Everything is read at the scrape.
 */
import type {
  BrokerMetricsSnapshot,
  BrokerMetricsSource,
  ProcessMetricsSnapshot,
} from "./broker_metrics_source.ts";
import { EXPORTER_METRICS } from "./exporter_metric_specs.ts";
import type { Labels, MetricSpec } from "./metric_spec.ts";
import { BROKER_METRICS, PROCESS_METRICS } from "./metric_specs.ts";
import { metricText, PROMETHEUS_CONTENT_TYPE } from "./prometheus_text.ts";

const NO_LABELS: Labels = Object.freeze({});

/** All metrics. */
export class BrokerMetrics {
  readonly contentType = PROMETHEUS_CONTENT_TYPE;

  constructor(private readonly source: BrokerMetricsSource) {}

  /** Reads the source and writes all metrics. */
  async text(): Promise<string> {
    const broker = await this.source.broker();
    const process = this.source.process();
    const texts = [
      ...this.#texts(BROKER_METRICS, this.source.labels, broker, process),
      ...this.#texts(EXPORTER_METRICS, NO_LABELS, broker, process),
      ...this.#texts(PROCESS_METRICS, NO_LABELS, broker, process),
    ];
    return texts.join("\n");
  }

  *#texts(
    specs: readonly MetricSpec[],
    fixed: Labels,
    broker: BrokerMetricsSnapshot,
    process: ProcessMetricsSnapshot,
  ): Iterable<string> {
    const limit = this.source.cardinalityLimit();
    for (const spec of specs) {
      const samples = spec.samples(broker, process);
      if (samples.length > 0) yield metricText(spec, samples, fixed, limit);
    }
  }
}
