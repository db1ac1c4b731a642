/**
 * TopicConfigManager: the topics of this broker, kept in `config/topics.json`.
 *
 * A change and the DataVersion that names it are made in one step and written
 * in one file, so a restart never sees one without the other.
 */
import { shown } from "../base/shown.ts";
import { type DataVersion, nextVersion } from "../model/data_version.ts";
import { PermName, type TopicConfig } from "../model/topic_config.ts";
import {
  topicConfigFromJson,
  topicConfigToJson,
} from "../protocol/body/topic_config_body.ts";
import { TopicNames } from "../model/topic_names.ts";
import {
  isSystemTopic,
  systemTopics,
  topicError,
} from "../model/validators.ts";
import type { BrokerOptions } from "./broker_options.ts";
import { type BrokerManagerPorts, ConfigManager } from "./config_manager.ts";
import {
  createTopicConfig,
  isInherited,
  isOfBroker,
  systemTopicConfigs,
} from "./system_topics.ts";
import { DeletedTopics } from "./deleted_topics.ts";
import type { TopicDeletions, TopicReplacement } from "./topic_deletions.ts";
import { type LoadedTable, type TableCodec, TableFile } from "./table_file.ts";

/** topics.json. */
export const TOPICS_CODEC: TableCodec<TopicConfig> = {
  fileName: "topics.json",
  tableKey: "topicConfigTable",
  fromJson: (json, name) => ({
    ...topicConfigFromJson(json, name),
    topicName: name,
  }),
  toJson: topicConfigToJson,
  entryKeys: new Set(Object.keys(createTopicConfig(""))),
};

/** Told of one changed topic, or of undefined for several or a deletion. */
export type TopicChangeListener = (topic: TopicConfig | undefined) => void;

/** The topics. */
export class TopicConfigManager {
  readonly #ports: BrokerManagerPorts;
  readonly #config: ConfigManager;
  #file: TableFile<TopicConfig>;
  #topics = new Map<string, TopicConfig>();
  #deleted = new DeletedTopics();
  /** Created here, on a slave: its clients need them before its master has them. */
  readonly #local = new Set<string>();
  readonly #logEnd: () => number;
  #options: BrokerOptions;
  #dataVersion: DataVersion;
  #isFullLogged = false;

  /** Registration with the name servers hangs here. */
  onChanged: TopicChangeListener | null = null;

  /** `options.brokerName` is resolved, never empty; `logEnd` gives the end of the log. */
  constructor(
    ports: BrokerManagerPorts,
    options: BrokerOptions,
    logEnd: () => number,
  ) {
    this.#ports = ports;
    this.#logEnd = logEnd;
    this.#options = options;
    this.#dataVersion = {
      stateVersion: 0,
      timestamp: ports.clock.nowMs(),
      counter: 0,
    };
    this.#file = new TableFile(TOPICS_CODEC, ports.logger);
    this.#config = new ConfigManager(
      ports,
      TOPICS_CODEC.fileName,
      () => this.encode(),
    );
  }

  /** Reads the file and adds the system topics; never throws. */
  load(): void {
    this.#config.load(
      (text) => this.#file.decode(text),
      (loaded) => this.#take(loaded),
    );
    // A slave that has followed a master has exactly its topics.
    if (this.#isSlave && this.#topics.size > 0) return;
    if (this.#addSystemTopics()) this.#changed(undefined);
    this.#local.clear();
  }

  /** Follows changed options: the template topic comes and goes with them. */
  reconfigure(options: BrokerOptions): void {
    this.#options = options;
    if (this.#isSlave) return;
    this.#local.clear();
    if (this.#addSystemTopics()) this.#changed(undefined);
  }

  /**
   * As a slave: takes over a master's answer to 21, as a whole and only once it
   * is durable; the version with it. Rejects with `BodyError` or `FileError`,
   * and then nothing has changed.
   */
  async replaceAll(text: string): Promise<TopicReplacement> {
    const { file, loaded } = this.#file.replacedBy(text);
    const before = this.#deleted.deletions;
    const table = new Map(loaded.table);
    // A 4.9 master has records of system topics before its table has them.
    const system = new Set(
      systemTopicConfigs(this.#options).map((it) => it.topicName),
    );
    const merged = () => {
      for (const name of this.#local) {
        const config = this.#topics.get(name);
        if (config === undefined || table.has(name)) continue;
        table.set(name, config);
        file.keep(name, this.#file);
      }
      const gone = [...this.#topics.keys()].filter((it) =>
        !table.has(it) && !system.has(it)
      );
      const nowMs = this.#ports.clock.nowMs();
      const deleted = this.#deleted.after(
        gone,
        table,
        loaded.otherKeys,
        nowMs,
      );
      return { gone, deleted };
    };
    const { dataVersion } = loaded;
    const next = file.encode(table, dataVersion, merged().deleted.toJson());
    let gone: readonly string[] = [];
    await this.#config.replace(next, () => {
      const last = merged();
      gone = last.gone;
      for (const name of this.#local) {
        if (loaded.table.has(name)) this.#local.delete(name);
      }
      this.#file = file;
      this.#topics = table;
      this.#deleted = last.deleted;
      this.#dataVersion = dataVersion;
    });
    this.onChanged?.(undefined);
    return { gone, deletions: this.deletions.since(before) };
  }

  /** Where the log ended when topics were deleted. */
  get deletions(): TopicDeletions {
    return this.#deleted.deletions;
  }

  /** Resolves when every change so far is durable; rejects with a FileError. */
  persist(): Promise<void> {
    return this.#config.persist();
  }

  /** Tries a failed write again. */
  tick(nowMs: number): void {
    this.#config.tick(nowMs);
  }

  get dataVersion(): DataVersion {
    return this.#dataVersion;
  }

  allTopics(): ReadonlyMap<string, TopicConfig> {
    return this.#topics;
  }

  selectTopicConfig(topic: string): TopicConfig | undefined {
    return this.#topics.get(topic);
  }

  isOrderTopic(topic: string): boolean {
    return this.#topics.get(topic)?.order ?? false;
  }

  /** True for RocketMQ's own topics and for those named after this cluster and broker. */
  isSystemTopic(topic: string): boolean {
    return isSystemTopic(topic) || isOfBroker(topic, this.#options);
  }

  /** The names that GET_SYSTEM_TOPIC_LIST_FROM_BROKER answers. */
  systemTopicList(): string[] {
    const own = [...this.#topics.keys()].filter((it) => this.isSystemTopic(it));
    return [...new Set([...systemTopics(), ...own])];
  }

  /** Creates or replaces a topic. */
  updateTopicConfig(config: TopicConfig): void {
    this.#put(config);
    this.#changed(config);
  }

  /** Creates or replaces several with one new version. */
  updateTopicConfigs(configs: readonly TopicConfig[]): void {
    if (configs.length === 0) return;
    for (const config of configs) this.#put(config);
    this.#changed(configs.length === 1 ? configs[0] : undefined);
  }

  /** False when there was no such topic. */
  deleteTopicConfig(topic: string): boolean {
    if (!this.#topics.delete(topic)) return false;
    this.#file.forget(topic);
    this.#deleted.delete(topic, this.#ports.clock.nowMs(), this.#logEnd());
    this.#ports.logger.info("topic deleted", { topic });
    this.#changed(undefined);
    return true;
  }

  /** The topic as it is, or as created now. */
  createTopicIfAbsent(config: TopicConfig): TopicConfig {
    const present = this.#topics.get(config.topicName);
    if (present !== undefined) return present;
    this.#ports.logger.info("topic created", { topic: config.topicName });
    this.updateTopicConfig(config);
    return config;
  }

  /**
   * The topic of a send, created from the template when it may be (reference
   * 3.8); undefined when it may not. The send does not wait for the file.
   */
  createTopicInSendMessageMethod(
    topic: string,
    defaultTopic: string,
    remoteAddress: string,
    defaultTopicQueueNums: number,
    topicSysFlag: number,
  ): TopicConfig | undefined {
    const present = this.#topics.get(topic);
    if (present !== undefined) return present;
    if (this.#isSlave) return undefined;
    const template = this.#topics.get(defaultTopic);
    if (template === undefined || !isInherited(template, this.#options)) {
      this.#ports.logger.debug("topic not created: no template", {
        topic: shown(topic),
        defaultTopic: shown(defaultTopic),
        producer: remoteAddress,
      });
      return undefined;
    }
    if (topicError(topic) !== undefined || this.#isFull()) return undefined;
    const queueNums = Math.min(defaultTopicQueueNums, template.writeQueueNums);
    // Apache makes it; nothing can be written to it, and it would be there for good.
    if (queueNums < 1) return undefined;
    return this.createTopicIfAbsent(createTopicConfig(topic, {
      readQueueNums: queueNums,
      writeQueueNums: queueNums,
      perm: template.perm & ~PermName.INHERIT,
      topicFilterType: template.topicFilterType,
      topicSysFlag,
    }));
  }

  /** The retry or DLQ topic of a group; undefined only at the limit of topics. */
  createTopicInSendMessageBackMethod(
    topic: string,
    queueNums: number,
    perm: number,
    topicSysFlag: number,
    isOrder = false,
  ): TopicConfig | undefined {
    const present = this.#topics.get(topic);
    if (present !== undefined) {
      if (present.order === isOrder) return present;
      const changed = { ...present, order: isOrder };
      this.updateTopicConfig(changed);
      return changed;
    }
    if (topicError(topic) !== undefined || this.#isFull()) return undefined;
    return this.createTopicIfAbsent(createTopicConfig(topic, {
      readQueueNums: queueNums,
      writeQueueNums: queueNums,
      perm,
      topicSysFlag,
      order: isOrder,
    }));
  }

  /**
   * A topic that the store holds but the table lost: served with the queues
   * seen there. Undefined when it was deleted: an unclean stop can bring its
   * queues back out of the log.
   */
  recoverTopic(topic: string, queueNums: number, recordsEnd = -1) {
    if (this.isDeletedTopic(topic, recordsEnd)) return undefined;
    return this.createTopicIfAbsent(createTopicConfig(topic, {
      readQueueNums: queueNums,
      writeQueueNums: queueNums,
    }));
  }

  /**
   * True for a topic that was deleted and not created again; records that end beyond its
   * deletion, at `recordsEnd`, are of the topic made again.
   */
  isDeletedTopic(topic: string, recordsEnd = -1): boolean {
    const deletedAt = this.deletions.get(topic) ?? Infinity;
    return this.#deleted.has(topic) && recordsEnd <= deletedAt;
  }

  /** Marks topics as order topics, as the name server's KV table says (reference 11.7). */
  updateOrderTopics(topics: Iterable<string>): void {
    // A slave's topics are its master's.
    if (this.#isSlave) return;
    const changed: TopicConfig[] = [];
    for (const topic of topics) {
      const config = this.#topics.get(topic);
      if (config === undefined || config.order) continue;
      changed.push({ ...config, order: true });
    }
    this.updateTopicConfigs(changed);
  }

  /** A new version without a change of topics: brokerPermission or the epoch changed. */
  updateDataVersion(stateVersion = this.#dataVersion.stateVersion): void {
    this.#changed(undefined, stateVersion);
  }

  /** The whole file, as Apache writes it. */
  encode(): string {
    return this.#file.encode(
      this.#topics,
      this.#dataVersion,
      this.#deleted.toJson(),
    );
  }

  #take(loaded: LoadedTable<TopicConfig>): void {
    for (const [name, config] of loaded.table) this.#topics.set(name, config);
    this.#dataVersion = loaded.dataVersion;
    this.#deleted.load(loaded.otherKeys, this.#topics);
  }

  /** True when something changed. */
  #addSystemTopics(): boolean {
    let isChanged = false;
    if (!this.#options.autoCreateTopicEnable) {
      // Without its template the topic must not be routed either.
      const template = TopicNames.AUTO_CREATE_TOPIC_KEY_TOPIC;
      isChanged = this.#topics.delete(template);
      this.#file.forget(template);
    }
    for (const config of systemTopicConfigs(this.#options)) {
      if (this.#topics.has(config.topicName)) continue;
      this.#put(config);
      isChanged = true;
    }
    return isChanged;
  }

  get #isSlave(): boolean {
    return this.#options.brokerRole === "SLAVE";
  }

  #isFull(): boolean {
    const isFull = this.#topics.size >= this.#options.topicMax;
    if (isFull && !this.#isFullLogged) {
      this.#ports.logger.warn(
        `no more topics are created by clients: topicMax is ${this.#options.topicMax}`,
      );
    }
    this.#isFullLogged = isFull;
    return isFull;
  }

  #put(config: TopicConfig): void {
    this.#topics.set(config.topicName, config);
    this.#deleted.remove(config.topicName);
    this.#file.changed(config.topicName);
    if (this.#isSlave) this.#local.add(config.topicName);
  }

  #changed(topic: TopicConfig | undefined, stateVersion?: number): void {
    // A slave's version is its master's: a new one would stop it from following.
    if (!this.#isSlave) {
      this.#dataVersion = nextVersion(
        this.#dataVersion,
        this.#ports.clock.nowMs(),
        stateVersion,
      );
    }
    this.#config.changed();
    this.onChanged?.(topic);
  }
}
