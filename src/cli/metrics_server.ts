/** /metrics: on the admin port, and with metricsExporterType=PROM on RocketMQ's own port too. */
import { ProblemError } from "../admin/problem.ts";
import { notReady } from "./facade_status.ts";
import type { RunningBroker } from "./broker_server.ts";
import { hostPort } from "./host_port.ts";
import { listening } from "./listen_error.ts";
import type { ServerListener } from "./serve.ts";

/** A bound port. */
export interface MetricsServer {
  readonly listener: ServerListener;
  close(): Promise<void>;
}

/** The text of all metrics, in UTF-8. */
export interface MetricsText {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Metrics are made at the first scrape: sites without Prometheus do not pay for them. */
const METRICS = new WeakMap<
  RunningBroker,
  Promise<{
    readonly contentType: string;
    bytes(): Promise<Uint8Array<ArrayBuffer>>;
  }>
>();

/** Throws `ProblemError` while the broker is starting or stopping. */
export async function metricsText(
  running: RunningBroker,
): Promise<MetricsText> {
  if (!running.broker.isReady) {
    throw notReady(running.broker);
  }
  let opened = METRICS.get(running);
  if (opened === undefined) METRICS.set(running, opened = openMetrics(running));
  const metrics = await opened;
  return { contentType: metrics.contentType, bytes: await metrics.bytes() };
}

async function openMetrics(running: RunningBroker) {
  const { BrokerMetrics } = await import("../metrics/broker_metrics.ts");
  const { metricsSource } = await import("./facade_metrics.ts");
  return new BrokerMetrics(metricsSource(running));
}

/** Serves GET /metrics, and as Apache's exporter every other path too. */
export async function startMetricsServer(
  running: RunningBroker,
): Promise<MetricsServer> {
  const { configuration, context, broker } = running;
  const { metricsPromExporterHost, metricsPromExporterPort } =
    configuration.values;
  const hostname = metricsPromExporterHost || broker.options.broker.brokerIP1;
  const listener = await listening(
    "metricsPromExporterPort",
    metricsPromExporterPort,
    "metricsPromExporterHost",
    hostname,
    () =>
      context.runtime.httpServer.serve(
        { hostname, port: metricsPromExporterPort },
        (request) => answer(running, request),
      ),
  );
  const bound = hostPort(hostname, listener.port);
  return {
    listener: {
      name: "metrics",
      bound,
      advertised: bound,
      why: metricsPromExporterHost === ""
        ? "it is brokerIP1"
        : "it is metricsPromExporterHost",
    },
    close: () => listener.close(),
  };
}

async function answer(
  running: RunningBroker,
  request: Request,
): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return new Response("only GET is answered here\n", { status: 405 });
  }
  try {
    const { contentType, bytes } = await metricsText(running);
    return new Response(bytes, { headers: { "content-type": contentType } });
  } catch (error) {
    if (error instanceof ProblemError) {
      return new Response(`${error.message}\n`, { status: error.status });
    }
    running.parts.logger.error("A scrape of the metrics failed", { error });
    return new Response("the metrics cannot be read\n", { status: 500 });
  }
}
