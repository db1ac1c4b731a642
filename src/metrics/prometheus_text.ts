/**
 * The text format of Prometheus 0.0.4: HELP, TYPE and one line per sample; a histogram has one
 * line per bucket, cumulative, then its sum and its count.
 */
import type { HistogramView } from "../base/histogram.ts";
import type {
  HistogramSample,
  Labels,
  MetricSpec,
  Sample,
} from "./metric_spec.ts";
import type { ScrapePace } from "./scrape_pace.ts";

export const PROMETHEUS_CONTENT_TYPE =
  "text/plain; version=0.0.4; charset=utf-8";

/** Samples that are put together at once. */
const PART_ROWS = 64;
/** OpenTelemetry's: what did not fit into the cardinality limit, summed up. */
const OVERFLOW: Labels = Object.freeze({ otel_metric_overflow: true });

/** The lines of one metric that has samples, in parts; `fixed` are labels of each. */
export async function metricText(
  { kind, name, help }: MetricSpec,
  samples: readonly (Sample | HistogramSample)[],
  fixed: Labels,
  limit: number,
  pace: ScrapePace,
): Promise<string[]> {
  const parts = [`# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${kind}\n`];
  const texts: string[] = [];
  await pace.each(limited(kind, samples, limit), (it) => {
    const labels = labelsText({ ...fixed, ...it.labels });
    texts.push(
      "histogram" in it
        ? histogramText(name, labels, it.histogram)
        : `${name}${braced(labels)} ${numberText(it.value)}\n`,
    );
    // Here rather than for all of them at the end.
    if (texts.length >= PART_ROWS) parts.push(texts.splice(0).join(""));
  });
  return [...parts, texts.join("")];
}

function histogramText(
  name: string,
  labels: string,
  { bounds, counts, sum }: HistogramView,
): string {
  const prefix = labels === "" ? "" : `${labels},`;
  let text = "";
  let count = 0;
  for (let at = 0; at <= bounds.length; at++) {
    count += counts[at]!;
    const bound = at < bounds.length ? numberText(bounds[at]!) : "+Inf";
    text += `${name}_bucket{${prefix}le="${bound}"} ${count}\n`;
  }
  return `${text}${name}_count${braced(labels)} ${count}\n` +
    `${name}_sum${braced(labels)} ${numberText(sum)}\n`;
}

/** At most `limit` samples; one of them is the sum of the rest, where a sum means something. */
function limited(
  kind: MetricSpec["kind"],
  samples: readonly (Sample | HistogramSample)[],
  limit: number,
): readonly (Sample | HistogramSample)[] {
  if (samples.length <= limit) return samples;
  if (kind === "gauge") return samples.slice(0, limit);
  const kept = samples.slice(0, limit - 1);
  return [...kept, summed(samples.slice(limit - 1))];
}

function summed(
  samples: readonly (Sample | HistogramSample)[],
): Sample | HistogramSample {
  const first = samples[0]!;
  if (!("histogram" in first)) {
    const value = (samples as readonly Sample[])
      .reduce((sum, it) => sum + it.value, 0);
    return { labels: OVERFLOW, value };
  }
  const { bounds } = first.histogram;
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  for (const it of samples as readonly HistogramSample[]) {
    for (const at of counts.keys()) counts[at]! += it.histogram.counts[at]!;
    sum += it.histogram.sum;
  }
  return { labels: OVERFLOW, histogram: { bounds, counts, sum } };
}

function labelsText(labels: Labels): string {
  let text = "";
  for (const [name, value] of Object.entries(labels)) {
    text += `${text === "" ? "" : ","}${name}="${
      typeof value === "string" ? escaped(value, true) : value
    }"`;
  }
  return text;
}

function braced(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}

function numberText(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}

function escaped(text: string, isLabel = false): string {
  const inLine = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return isLabel ? inLine.replaceAll('"', '\\"') : inLine;
}
