/** MetricSpec: one metric and how a scrape reads it. */
import type {
  BrokerMetricsSnapshot,
  ProcessMetricsSnapshot,
} from "./broker_metrics_source.ts";

/** One sample of a metric. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric and where its samples come from. */
export interface MetricSpec {
  readonly name: string;
  readonly help: string;
  readonly kind: "counter" | "gauge";
  readonly labelNames?: readonly string[];
  readonly samples: (
    broker: BrokerMetricsSnapshot,
    process: ProcessMetricsSnapshot,
  ) => readonly Sample[];
}

type NumberOf = (
  broker: BrokerMetricsSnapshot,
  process: ProcessMetricsSnapshot,
) => number | null;

function metric(
  kind: MetricSpec["kind"],
  name: string,
  help: string,
  numberOf: NumberOf,
): MetricSpec {
  return {
    kind,
    name,
    help,
    samples: (broker, process) => {
      const value = numberOf(broker, process);
      return value === null ? [] : [{ value }];
    },
  };
}

/** A number that goes up and down; no sample while it is null. */
export const gauge = (name: string, help: string, numberOf: NumberOf) =>
  metric("gauge", name, help, numberOf);
/** A number that only grows. */
export const counter = (name: string, help: string, numberOf: NumberOf) =>
  metric("counter", name, help, numberOf);
