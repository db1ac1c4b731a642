/**
 * BrokerMetrics: the metrics of one broker in the text format of Prometheus.
 * Everything is read at the scrape, in short turns of the loop.
 */
import type { BrokerMetricsSource } from "./broker_metrics_source.ts";
import { EXPORTER_METRICS } from "./exporter_metric_specs.ts";
import type {
  HistogramSample,
  Labels,
  MetricSpec,
  Sample,
} from "./metric_spec.ts";
import { BROKER_METRICS, PROCESS_METRICS } from "./metric_specs.ts";
import { metricText, PROMETHEUS_CONTENT_TYPE } from "./prometheus_text.ts";
import { ScrapePace } from "./scrape_pace.ts";

type Found = Sample | HistogramSample;

const ENCODER = new TextEncoder();
const NO_LABELS: Labels = Object.freeze({});

/** All metrics. */
export class BrokerMetrics {
  readonly contentType = PROMETHEUS_CONTENT_TYPE;

  constructor(private readonly source: BrokerMetricsSource) {}

  /** Reads the source and writes all metrics, in UTF-8. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const pace = new ScrapePace(this.source.clock);
    const broker = await this.source.broker(pace);
    const process = this.source.process();
    const parts: Uint8Array[] = [];
    const limit = this.source.cardinalityLimit();
    for (const [specs, fixed] of this.#families()) {
      for (const spec of specs) {
        await pace.rest();
        const samples = await pace.map<Found, Found>(
          spec.samples(broker, process),
          (it) => it,
        );
        if (samples.length === 0) continue;
        const texts = await metricText(spec, samples, fixed, limit, pace);
        for (const it of [...texts, "\n"]) {
          parts.push(ENCODER.encode(it));
          await pace.rest();
        }
      }
    }
    return concatenated(parts);
  }

  /** As `bytes`. */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  /** Metrics with the labels that all of them carry. */
  #families(): readonly (readonly [readonly MetricSpec[], Labels])[] {
    return [
      [BROKER_METRICS, this.source.labels],
      [EXPORTER_METRICS, NO_LABELS],
      [PROCESS_METRICS, NO_LABELS],
    ];
  }
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const size = parts.reduce((sum, it) => sum + it.length, 0);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const it of parts) {
    bytes.set(it, at);
    at += it.length;
  }
  return bytes;
}
