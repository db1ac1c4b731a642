/**
 * TimerMetrics: how many messages of each topic wait for their time, `config/timermetrics` and
 * the body of GET_TIMER_METRICS (61); and how delivery goes.
 *
 * The counts are a view for tools, as in Apache: what a crash makes wrong is right again once
 * nothing is pending.
 */
import { Histogram, type HistogramView } from "../../base/histogram.ts";
import { type DataVersion, nextVersion } from "../../model/data_version.ts";
import { dataVersionFromJson } from "../../protocol/body/data_version_body.ts";
import {
  BodyError,
  integerOf,
  type JsonObject,
  objectOf,
} from "../../protocol/body/json_fields.ts";
import { parseFastjson, writeFastjson } from "../../protocol/fastjson.ts";
import type { MetadataFile } from "../config_manager.ts";

interface Metric {
  readonly count: number;
  readonly timeStamp: number;
}

/** What was done since the start. */
export interface TimerCounters {
  readonly enqueued: ReadonlyMap<string, number>;
  readonly dequeued: ReadonlyMap<string, number>;
  /** Whole seconds from a message's birth to its time. */
  readonly waitsS: ReadonlyMap<string, HistogramView>;
}

/** Topics that are told apart. */
const TOPICS_MAX = 50_000;
/** Seconds: 1 and 10 min, 1 and 12 h, 1 and 3 days; those of RocketMQ. */
const WAIT_BOUNDS_S = Float64Array.of(60, 600, 3_600, 43_200, 86_400, 259_200);

/** Of one broker. */
export class TimerMetrics {
  readonly #file: MetadataFile;
  readonly #counts = new Map<string, Metric>();
  readonly #enqueued = new Map<string, number>();
  readonly #dequeued = new Map<string, number>();
  readonly #waitsS = new Map<string, Histogram>();
  #version: DataVersion = { stateVersion: 0, timestamp: 0, counter: 0 };
  #persisted = "";
  /** Since the start. */
  enqueuedCount = 0;
  dequeuedCount = 0;
  /** Milliseconds between due and delivered, of the last message. */
  lastLatenessMs = 0;

  constructor(file: MetadataFile) {
    this.#file = file;
  }

  /** Reads the file; one of no use changes nothing. Never throws. */
  load(): void {
    try {
      const read = this.#file.read(decode);
      if (read !== undefined) this.#take(read);
    } catch {
      // JsonFile has said so.
    }
  }

  /** Messages that wait, by topic. */
  get timingCounts(): ReadonlyMap<string, number> {
    return new Map([...this.#counts].map(([topic, it]) => [topic, it.count]));
  }

  get counters(): TimerCounters {
    return {
      enqueued: this.#enqueued,
      dequeued: this.#dequeued,
      waitsS: this.#waitsS,
    };
  }

  /** One more waits: `waitMs` from its birth to its time. */
  onEnqueued(topic: string, nowMs: number, waitMs: number): void {
    this.add(topic, 1, nowMs);
    this.enqueuedCount++;
    count(this.#enqueued, topic);
    let waits = this.#waitsS.get(topic);
    if (waits === undefined) {
      if (this.#waitsS.size >= TOPICS_MAX) return;
      this.#waitsS.set(topic, waits = new Histogram(WAIT_BOUNDS_S));
    }
    waits.add(Math.max(0, Math.floor(waitMs / 1_000)));
  }

  onDelivered(topic: string, dueMs: number, nowMs: number): void {
    this.add(topic, -1, nowMs);
    this.dequeuedCount++;
    count(this.#dequeued, topic);
    this.lastLatenessMs = Math.max(0, nowMs - dueMs);
  }

  /** So many more wait. */
  add(topic: string, by: number, nowMs: number): void {
    const before = this.#counts.get(topic);
    if (before === undefined && this.#counts.size >= TOPICS_MAX) return;
    const sum = Math.max(0, (before?.count ?? 0) + by);
    this.#counts.set(topic, { count: sum, timeStamp: nowMs });
    this.#version = nextVersion(this.#version, nowMs);
  }

  /** Nothing is pending. */
  clear(nowMs: number): void {
    if (this.#counts.size === 0) return;
    this.#counts.clear();
    this.#version = nextVersion(this.#version, nowMs);
  }

  /** The whole file's text. */
  encode(): string {
    return writeFastjson({
      dataVersion: { ...this.#version },
      timingCount: Object.fromEntries(
        [...this.#counts].map(([topic, it]) => [topic, { ...it }]),
      ),
    });
  }

  /** Writes what has changed. Rejects with `FileError`. */
  async persist(): Promise<void> {
    const text = this.encode();
    if (text === this.#persisted) return;
    await this.#file.write(text);
    this.#persisted = text;
  }

  /** As a slave: takes over a master's answer to 61. Rejects with `BodyError` or `FileError`. */
  async replaceAll(text: string): Promise<void> {
    this.#take(decode(text));
    await this.persist();
  }

  #take({ counts, version }: Decoded): void {
    this.#counts.clear();
    for (const [topic, it] of counts) this.#counts.set(topic, it);
    this.#version = version;
  }
}

interface Decoded {
  readonly counts: ReadonlyMap<string, Metric>;
  readonly version: DataVersion;
}

function decode(text: string): Decoded {
  let json: JsonObject;
  try {
    json = objectOf(parseFastjson(text), "timermetrics");
  } catch (cause) {
    throw new BodyError("timermetrics is no JSON", { cause });
  }
  const table = objectOf(json.timingCount ?? {}, "timingCount");
  const counts = Object.entries(table).slice(0, TOPICS_MAX).map(
    ([topic, value]): [string, Metric] => {
      const { count, timeStamp } = objectOf(value, topic);
      return [topic, {
        count: Math.max(0, integerOf(count, "count")),
        timeStamp: integerOf(timeStamp ?? 0, "timeStamp"),
      }];
    },
  );
  const version = dataVersionFromJson(json.dataVersion);
  return { counts: new Map(counts), version };
}

function count(counts: Map<string, number>, topic: string): void {
  const before = counts.get(topic);
  if (before === undefined && counts.size >= TOPICS_MAX) return;
  counts.set(topic, (before ?? 0) + 1);
}
