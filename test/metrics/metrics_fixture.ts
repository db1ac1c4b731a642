/** A snapshot in which every metric has samples, and a reader of the text format. */
import type { Clock, Timer } from "../../src/io/clock.ts";
import { BrokerMetrics } from "../../src/metrics/broker_metrics.ts";
import type { BrokerMetricsSnapshot } from "../../src/metrics/broker_metrics_source.ts";
import type { ExporterSnapshot } from "../../src/metrics/exporter_snapshot.ts";

const LATENCY = { bounds: [1, 3], counts: [4, 0, 1], sum: 7 };

function popCount(
  type: string | undefined,
  status: string | undefined,
  queueId: number | undefined,
  count: number,
) {
  return { group: "G", topic: "T", type, status, queueId, count };
}

/** A master with one slave that lags. */
export function snapshot(): BrokerMetricsSnapshot {
  return {
    ha: {
      state: "catching-up",
      connectionCount: 3,
      slaves: [
        { slave: "s:1", lagBytes: 21, lagMs: 22, bytesInSecond: 23 },
      ],
      inSyncSlaveNums: 1,
      pendingSyncRequests: 24,
      replicatedOffset: 979,
      acceptedCount: 25,
      refusedCount: 26,
      protocolErrorCount: 27,
      masterLagBytes: null,
      masterLagMs: null,
      reconnectCount: 0,
    },
    pop: {
      checkPointCount: 51,
      inflightMessages: 52,
      heldRequests: 53,
      queues: [{ queueId: 2, dueCount: 54, lateMs: 55 }],
      puts: [popCount("CK", "PUT_OK", undefined, 56)],
      gets: [popCount("ACK", undefined, 2, 57)],
      retries: [popCount(undefined, "PUT_OK", undefined, 58)],
    },
    timers: {
      delivery: {
        unreadCount: 61,
        unreadMs: 62,
        pendingCount: 63,
        overdueSeconds: 64,
        dueWithin: [{ boundSeconds: 5, count: 65 }],
      },
      timing: new Map([["T", 66]]),
      enqueued: new Map([["T", 67]]),
      dequeued: new Map([["T", 68]]),
      waitsS: new Map([["T", LATENCY]]),
    },
    role: "ASYNC_MASTER",
    brokerPermission: 6,
    topicCount: 3,
    groupCount: 2,
    producerConnections: [{ language: "java", version: "v5_5_0", count: 1 }],
    consumerConnections: [{
      group: "G",
      language: "go",
      version: "v4_9_8",
      consumeMode: "push",
      isSystem: false,
      count: 4,
    }],
    connections: 5,
    heldPulls: 6,
    junkCloses: 7,
    bytesIn: 8,
    bytesOut: 9,
    requests: new Map([[310, 11], [11, 12]]),
    rpc: [{
      requestCode: "send_message_v2",
      responseCode: "success",
      isLongPolling: false,
      result: "success",
      latencyMs: LATENCY,
    }],
    watermarks: new Map([["send", 2]]),
    topicCreations: [
      { invocationStatus: "success", isSystem: false, timeMs: LATENCY },
    ],
    groupCreations: [{ invocationStatus: "failure", timeMs: LATENCY }],
    putCount: 13,
    putFailedCount: 15,
    isWritable: true,
    commitLogMinOffset: 100,
    commitLogMaxOffset: 1_000,
    flushedOffset: 900,
    dispatchBehindBytes: 18,
    messageReserveTimeMs: 30,
    diskUsedBytes: 400,
    diskUsedPercent: 42,
    topics: [{
      topic: "T",
      messageType: "normal",
      isSystem: false,
      nums: 19,
      bytes: 190,
      sizes: LATENCY,
    }],
    storedTopics: [{ topic: "T", isSystem: false, messages: 99 }],
    groups: [
      { topic: "T", group: "G", isSystem: false, nums: 16, bytes: 17 },
    ],
    deadLetters: [{ topic: "T", group: "G", isSystem: false, nums: 3 }],
    transactions: [
      { topic: "T", committed: 8, rolledBack: 9, latencyS: LATENCY },
    ],
    delayed: new Map([[3, 41]]),
    lags: [{
      group: "G",
      topic: "%RETRY%G",
      isRetry: true,
      isSystem: false,
      lagMessages: 20,
      lagLatencyMs: 31,
      inflightMessages: 5,
      queueingLatencyMs: 29,
      readyMessages: 15,
    }],
    exporter: null,
  };
}

/** The exporter's part. */
export function exporterSnapshot(): ExporterSnapshot {
  const group = (topic: string) => ({
    topic,
    group: "G",
    consumerOffset: 40,
    lagMessages: 2,
    latencyMs: 9,
  });
  return {
    clusterName: "C",
    brokerName: "b",
    brokerAddr: "10.0.0.1:10911",
    runtime: new Map([
      ["brokerVersionDesc", "V5_3_3"],
      ["brokerVersion", "479"],
      ["bootTimestamp", "5"],
      ["msgPutTotalTodayNow", "7"],
      ["putTps", "1.5 2.5 3.5"],
      ["putMessageDistributeTime", "[<=0ms]:8 [0~10ms]:9 [10~50ms]:0 "],
      ["commitLogDirCapacity", "Total : 4.0 GiB, Free : 512 B."],
      ["remainHowManyDataToFlush", "1.5 KiB"],
    ]),
    putTps: 1.25,
    getTps: null,
    topics: [
      { topic: "T", maxOffset: 10 },
      { topic: "%RETRY%G", maxOffset: 11 },
      { topic: "%DLQ%G", maxOffset: 12 },
    ],
    topicRates: [{ topic: "T", tps: 2, bytesPerSecond: 3 }],
    groupRates: [
      { topic: "T", group: "G", tps: 4, bytesPerSecond: 5, sendBacks: 6 },
    ],
    groupOffsets: [group("T"), group("%RETRY%G"), {
      ...group("T"),
      group: "B",
    }],
    groups: [
      {
        group: "G",
        addresses: ["a:1", "a:2"],
        clientIds: ["c1", "c2"],
        isBroadcasting: false,
      },
      { group: "B", addresses: [], clientIds: [], isBroadcasting: true },
    ],
    clients: [{
      address: "a:1",
      clientId: "c1",
      group: "G",
      topic: "T",
      pullRT: 1.5,
      pullTPS: 2,
      consumeRT: 3,
      consumeOKTPS: 4,
      consumeFailedTPS: 5,
      consumeFailedMsgs: 6,
    }],
    producers: new Map([["P", 2]]),
  };
}

/** A clock that goes on with each look, so that a turn of the loop is a number of looks. */
export class TurnsClock implements Clock {
  /** How often somebody let the loop go on. */
  turns = 0;
  onTurn: () => void = () => {};
  #nowMs = 0;

  constructor(private readonly stepMs = 0) {}

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs += this.stepMs;
  }

  every(): never {
    throw new Error("A scrape needs no timer that comes again");
  }

  after(_delayMs: number, run: () => void): Timer {
    this.turns += 1;
    this.onTurn();
    queueMicrotask(run);
    return { cancel() {} };
  }
}

/** The metrics of a snapshot, which may change afterwards. */
export function open(
  broker: BrokerMetricsSnapshot = snapshot(),
  limit = 50_000,
  clock: Clock = new TurnsClock(),
): BrokerMetrics {
  return new BrokerMetrics({
    labels: { cluster: "C", node_type: "broker", node_id: "b" },
    cardinalityLimit: () => limit,
    clock,
    broker: () => Promise.resolve(broker),
    process: () => ({
      residentBytes: 1,
      cpuSeconds: 2.5,
      startedMs: 3_000,
      uptimeSeconds: 4,
    }),
  });
}

/** What a scrape says of one metric. */
export interface ScrapedMetric {
  readonly type: string;
  /** Names of labels, `le` apart. */
  readonly labelNames: Set<string>;
  readonly samples: { readonly labels: Map<string, string>; value: number }[];
}

/** Reads the text format; samples of a histogram are its counts. */
export function scraped(text: string): Map<string, ScrapedMetric> {
  const metrics = new Map<string, ScrapedMetric>();
  for (const line of text.split("\n")) {
    const typed = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (typed !== null) {
      metrics.set(typed[1]!, {
        type: typed[2]!,
        labelNames: new Set(),
        samples: [],
      });
    }
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/.exec(
      line,
    );
    if (sample === null || line.startsWith("#")) continue;
    const [, name = "", labelText = "", value = ""] = sample;
    const base = name.replace(/_(bucket|sum|count)$/, "");
    const metric = metrics.get(name) ?? metrics.get(base);
    if (metric === undefined) continue;
    const labels = new Map(
      [...labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((it) =>
        [it[1]!, it[2]!] as const
      ),
    );
    for (const label of labels.keys()) {
      if (label !== "le") metric.labelNames.add(label);
    }
    if (metric.type !== "histogram" || name.endsWith("_count")) {
      metric.samples.push({ labels, value: Number(value) });
    }
  }
  return metrics;
}
