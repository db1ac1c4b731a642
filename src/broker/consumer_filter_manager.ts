/**
 * ConsumerFilterManager: the selectors of groups whose subscriptions are not
 * by tags, from their heartbeats, kept in `config/consumerFilter.json`
 * (reference 13.3).
 *
 * Invariants
 * - Every entry compiles. One whose group left is dead and stays usable until it is cleaned.
 * - An older clientVersion never replaces a newer one.
 */
import { shown } from "../base/shown.ts";
import { BloomFilter } from "../filter/bloom_filter.ts";
import { CompiledSelector } from "../filter/compiled_selector.ts";
import type { FilterFactory } from "../filter/filter_factory.ts";
import { isTagType } from "../model/filter_api.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";
import { objectOf } from "../protocol/body/json_fields.ts";
import { writePrettyFastjson } from "../protocol/pretty_fastjson.ts";
import { LogLimiter } from "../remoting/log_limiter.ts";
import type { BrokerOptions } from "./broker_options.ts";
import { type BrokerManagerPorts, ConfigManager } from "./config_manager.ts";
import {
  type ConsumerFilterData,
  consumerFilterDataFromJson,
  consumerFilterDataToJson,
  isDead,
  type StoredFilterData,
} from "./consumer_filter_data.ts";
import { ConsumerFilterTable } from "./consumer_filter_table.ts";
import { parseTableText } from "./table_file.ts";

const FILE_NAME = "consumerFilter.json";
const TABLE = "filterDataByTopic";
/** Milliseconds between two writes, as in Apache. */
const PERSIST_INTERVAL_MS = 10_000;
/** Groups in the file have not been heard of for so many milliseconds. */
const UNHEARD_MS = 30_000;

/** Keys of broker.conf that it reads. */
export type ConsumerFilterOptions = Pick<
  BrokerOptions,
  | "filterDataCleanTimeSpan"
  | "maxErrorRateOfBloomFilter"
  | "expectConsumerNumUseFilter"
>;

/** The selectors by topic and group. */
export class ConsumerFilterManager {
  readonly #ports: BrokerManagerPorts;
  readonly #config: ConfigManager;
  readonly #factory: FilterFactory;
  readonly #log: LogLimiter;
  readonly #table = new ConsumerFilterTable();
  readonly #bloomFilter: BloomFilter;
  #options: ConsumerFilterOptions;
  #persistedMs: number;

  constructor(
    ports: BrokerManagerPorts,
    options: ConsumerFilterOptions,
    factory: FilterFactory,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.#factory = factory;
    this.#bloomFilter = new BloomFilter(
      options.maxErrorRateOfBloomFilter,
      options.expectConsumerNumUseFilter,
    );
    this.#log = new LogLimiter(ports.logger, ports.clock);
    this.#config = new ConfigManager(ports, FILE_NAME, () => this.encode());
    this.#persistedMs = ports.clock.monotonicMs();
  }

  reconfigure(options: ConsumerFilterOptions): void {
    this.#options = options;
  }

  get(topic: string, group: string): ConsumerFilterData | undefined {
    return this.#table.get(topic, group);
  }

  /** Takes the subscriptions of a heartbeat; what the group has no longer is dead. */
  register(group: string, subscriptions: readonly SubscriptionData[]): void {
    const topics = new Set<string>();
    for (const it of subscriptions) {
      topics.add(it.topic);
      if (!isTagType(it.expressionType) && it.subString !== "") {
        this.#registerOne(group, it);
      }
    }
    this.#die(group, topics);
  }

  /** The last member of a group has left. */
  unRegister(group: string): void {
    this.#die(group, new Set());
  }

  /** Reads the file: all groups in it count as gone until they are heard of. Never throws. */
  load(): void {
    this.#config.load(decodeConsumerFilters, (entries) => {
      for (const it of entries) this.#loadOne(it);
    });
  }

  /** The whole file's text. */
  encode(): string {
    const byTopic: Record<string, Record<string, unknown>> = Object.create(
      null,
    );
    for (const it of this.#table.all()) {
      byTopic[it.topic] ??= Object.create(null);
      byTopic[it.topic]![it.consumerGroup] = consumerFilterDataToJson(it);
    }
    const table = Object.entries(byTopic).map(([topic, groupFilterData]) =>
      [topic, { groupFilterData, topic }] as const
    );
    return writePrettyFastjson({ [TABLE]: new Map(table) });
  }

  /** Resolves when every change so far is durable; rejects with a FileError. */
  persist(): Promise<void> {
    return this.#config.persist();
  }

  /** Cleans and writes every 10 s; `nowMs` is monotonic. */
  tick(nowMs: number): void {
    this.#config.tick(nowMs);
    if (nowMs - this.#persistedMs < PERSIST_INTERVAL_MS) return;
    this.#persistedMs = nowMs;
    this.#clean();
    if (this.#config.isChanged) this.#config.persistSoon();
  }

  #registerOne(group: string, subscription: SubscriptionData): void {
    const { topic, subString, expressionType, subVersion } = subscription;
    const old = this.get(topic, group);
    if (old !== undefined) {
      const isSame = old.expression === subString &&
        old.expressionType === expressionType;
      if (subVersion > old.clientVersion && isSame) {
        return this.#put({ ...old, clientVersion: subVersion, deadTime: 0 });
      }
      if (subVersion === old.clientVersion && isDead(old)) {
        return this.#put({ ...old, deadTime: 0 });
      }
      if (subVersion <= old.clientVersion) return;
    }
    const selector = this.#compile(group, subscription);
    if (selector !== undefined) {
      return this.#put(this.#dataOf(group, subscription, selector));
    }
    if (old === undefined) return;
    // Pulls are told that there is none: the old one is not what the group wants.
    this.#table.remove(old);
    this.#config.markChanged();
  }

  #dataOf(
    consumerGroup: string,
    { topic, subString, expressionType, subVersion }: SubscriptionData,
    selector: CompiledSelector,
  ): ConsumerFilterData {
    this.#ports.logger.info("a filter was registered", {
      group: consumerGroup,
      topic: shown(topic),
      expression: shown(subString),
    });
    return {
      consumerGroup,
      topic,
      expression: subString,
      expressionType,
      bornTime: this.#ports.clock.nowMs(),
      deadTime: 0,
      bloomFilterData: this.#bloomFilter.generate(`${consumerGroup}#${topic}`),
      clientVersion: subVersion,
      selector,
    };
  }

  /** Undefined, and a line in the log, for what cannot be compiled or kept. */
  #compile(
    group: string,
    { topic, subString, expressionType }: SubscriptionData,
  ): CompiledSelector | undefined {
    const result = this.#factory.compile(expressionType, subString);
    const fields = {
      group,
      topic: shown(topic),
      expression: shown(subString),
    };
    const error = result instanceof CompiledSelector
      ? this.#table.makeRoom(topic, group, subString)
      : result.error;
    if (error !== undefined || !(result instanceof CompiledSelector)) {
      this.#log.warn("refused", "a filter was not registered", {
        ...fields,
        error,
      });
      return undefined;
    }
    const { ignored } = result;
    if (ignored !== undefined) {
      this.#log.warn("ignored", "the end of a filter is ignored", {
        ...fields,
        position: ignored.position,
        ignored: shown(ignored.text),
      });
    }
    return result;
  }

  #loadOne(data: StoredFilterData): void {
    const { bornTime, consumerGroup, expressionType, topic } = data;
    const selector = this.#factory.compile(expressionType, data.expression);
    if (!(selector instanceof CompiledSelector)) {
      this.#ports.logger.warn(`an entry of ${FILE_NAME} was left out`, {
        group: shown(consumerGroup),
        topic: shown(topic),
        error: selector.error,
      });
      return;
    }
    const unheardMs = this.#ports.clock.nowMs() - UNHEARD_MS;
    this.#table.put({
      ...data,
      bloomFilterData: this.#bloomFilter.generate(`${consumerGroup}#${topic}`),
      deadTime: data.deadTime === 0
        ? Math.max(unheardMs, bornTime)
        : data.deadTime,
      selector,
    });
  }

  /** Whatever the group has of topics that are not among `living`. */
  #die(group: string, living: ReadonlySet<string>): void {
    for (const data of this.#table.ofGroup(group)) {
      if (isDead(data) || living.has(data.topic)) continue;
      const deadTime = Math.max(this.#ports.clock.nowMs(), data.bornTime);
      this.#put({ ...data, deadTime });
    }
  }

  /** Removes what has been dead for filterDataCleanTimeSpan. */
  #clean(): void {
    const beforeMs = this.#ports.clock.nowMs() -
      this.#options.filterDataCleanTimeSpan;
    for (const data of this.#table.all()) {
      if (!isDead(data) || data.deadTime > beforeMs) continue;
      this.#table.remove(data);
      this.#config.markChanged();
    }
  }

  #put(data: ConsumerFilterData): void {
    this.#table.put(data);
    this.#config.markChanged();
  }
}

/** Throws when the text is no consumerFilter.json. */
export function decodeConsumerFilters(text: string): StoredFilterData[] {
  const { table } = parseTableText(text, FILE_NAME, TABLE);
  return Object.values(table).flatMap((ofTopic) => {
    const groups = objectOf(ofTopic, TABLE).groupFilterData;
    return Object.values(objectOf(groups, "groupFilterData")).map((it) =>
      consumerFilterDataFromJson(objectOf(it, "ConsumerFilterData"))
    );
  });
}
