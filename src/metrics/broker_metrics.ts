/**
 * BrokerMetrics: the metrics of one broker in the text format of Prometheus.
 * Everything is read at the scrape.
 */
import { Counter, Gauge, Registry } from "prom-client";
import type {
  BrokerMetricsSnapshot,
  BrokerMetricsSource,
  ProcessMetricsSnapshot,
} from "./broker_metrics_source.ts";
import type { MetricSpec } from "./metric_spec.ts";
import { BROKER_METRICS, PROCESS_METRICS } from "./metric_specs.ts";

/** All metrics. */
export class BrokerMetrics {
  readonly #registry = new Registry();
  readonly #source: BrokerMetricsSource;
  readonly #fill: ((
    broker: BrokerMetricsSnapshot,
    process: ProcessMetricsSnapshot,
  ) => void)[] = [];

  constructor(source: BrokerMetricsSource) {
    this.#source = source;
    for (const spec of BROKER_METRICS) {
      this.#add(spec, { ...source.labels });
    }
    for (const spec of PROCESS_METRICS) this.#add(spec, {});
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Reads the source and writes all metrics. */
  async text(): Promise<string> {
    const broker = await this.#source.broker();
    const process = this.#source.process();
    for (const fill of this.#fill) fill(broker, process);
    return await this.#registry.metrics();
  }

  #add(spec: MetricSpec, fixed: Record<string, string>): void {
    const configuration = {
      name: spec.name,
      help: spec.help,
      labelNames: [...Object.keys(fixed), ...(spec.labelNames ?? [])],
      registers: [this.#registry],
    };
    const made = spec.kind === "counter"
      ? new Counter(configuration)
      : new Gauge(configuration);
    this.#fill.push((broker, process) => {
      made.reset();
      for (const { labels, value } of spec.samples(broker, process)) {
        made.inc({ ...fixed, ...labels }, value);
      }
    });
  }
}
