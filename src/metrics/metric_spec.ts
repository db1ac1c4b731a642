/** MetricSpec: one metric and how a scrape reads it. */
import type { HistogramView } from "../base/histogram.ts";
import type {
  BrokerMetricsSnapshot,
  ProcessMetricsSnapshot,
} from "./broker_metrics_source.ts";

/** Label values by name; booleans are written as RocketMQ writes them. */
export type Labels = Readonly<Record<string, string | boolean>>;

/** One sample of a metric. */
export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

/** One sample of a histogram. */
export interface HistogramSample {
  readonly labels?: Labels;
  readonly histogram: HistogramView;
}

interface Spec<Kind, Found> {
  readonly kind: Kind;
  readonly name: string;
  readonly help: string;
  readonly samples: (
    broker: BrokerMetricsSnapshot,
    process: ProcessMetricsSnapshot,
  ) => Iterable<Found>;
}

/** A number. */
export type NumberSpec = Spec<"counter" | "gauge", Sample>;
/** A distribution. */
export type HistogramSpec = Spec<"histogram", HistogramSample>;
/** A metric and where its samples come from. */
export type MetricSpec = NumberSpec | HistogramSpec;

type NumberOf = (
  broker: BrokerMetricsSnapshot,
  process: ProcessMetricsSnapshot,
) => number | null;

function metric(
  kind: NumberSpec["kind"],
  name: string,
  help: string,
  numberOf: NumberOf,
  labels?: Labels,
): NumberSpec {
  return {
    kind,
    name,
    help,
    samples: (broker, process) => {
      const value = numberOf(broker, process);
      if (value === null) return [];
      return [labels === undefined ? { value } : { labels, value }];
    },
  };
}

/** A number that goes up and down; no sample while it is null. */
export const gauge = (
  name: string,
  help: string,
  numberOf: NumberOf,
  labels?: Labels,
) => metric("gauge", name, help, numberOf, labels);
/** A number that only grows. */
export const counter = (name: string, help: string, numberOf: NumberOf) =>
  metric("counter", name, help, numberOf);

/** One sample per row. */
export function rows<Row>(
  kind: NumberSpec["kind"],
  name: string,
  help: string,
  rowsOf: (broker: BrokerMetricsSnapshot) => Iterable<Row>,
  sampleOf: (row: Row) => Sample,
): NumberSpec {
  return {
    kind,
    name,
    help,
    samples: (broker) => mapped(rowsOf(broker), sampleOf),
  };
}

/** One distribution per row. */
export function histogram<Row>(
  name: string,
  help: string,
  rowsOf: (broker: BrokerMetricsSnapshot) => Iterable<Row>,
  sampleOf: (row: Row) => HistogramSample,
): HistogramSpec {
  return {
    kind: "histogram",
    name,
    help,
    samples: (broker) => mapped(rowsOf(broker), sampleOf),
  };
}

/** One by one, as the scrape asks for them. */
export function* mapped<Row, Found>(
  rows: Iterable<Row>,
  foundOf: (row: Row) => Found,
): Iterable<Found> {
  for (const row of rows) yield foundOf(row);
}
