/**
 * ConsumerOffsetManager: where each group stands in each queue, kept in
 * `config/consumerOffset.json` (reference 4.8, 9.6).
 *
 * The last commit wins, also a smaller one, which counts as a reset; a
 * negative one, and on a master one beyond the queue's end, is refused: it
 * would come back as a lost position or as negative lag.
 */
import { shown } from "../base/shown.ts";
import {
  type DataVersion,
  isSameVersion,
  nextVersion,
} from "../model/data_version.ts";
import { ZERO_DATA_VERSION } from "../protocol/body/data_version_body.ts";
import type { JsonObject } from "../protocol/body/json_fields.ts";
import type { BrokerOptions } from "./broker_options.ts";
import { type BrokerManagerPorts, ConfigManager } from "./config_manager.ts";
import {
  type ConsumerQueueOffset,
  followApacheMaster,
  followMaster,
  forgetOwn,
  lowerToEnds,
  mergeForward,
  type OffsetMerge,
} from "./consumer_offset_merge.ts";
import {
  ConsumerOffsetTable,
  OFFSETS_FILE_NAME,
  type OffsetsFile,
  offsetsFileText,
  parseOffsets,
  topicAtGroup,
} from "./consumer_offset_table.ts";
import { OffsetGenerations } from "./offset_generations.ts";
import {
  OffsetRefusals,
  type QueueLimits,
  refusalOfCommit,
} from "./offset_refusals.ts";
import { PullOffsetTable } from "./pull_offset_table.ts";

/** The offsets. */
export class ConsumerOffsetManager {
  readonly #ports: BrokerManagerPorts;
  readonly #limits: QueueLimits | null;
  readonly #config: ConfigManager;
  #table = new ConsumerOffsetTable();
  #generations = new OffsetGenerations();
  readonly #pullOffsets = new PullOffsetTable();
  #options: BrokerOptions;
  #dataVersion: DataVersion;
  /** True when offsets changed since `#dataVersion` was made. */
  #isVersionOld = false;
  #otherKeys: JsonObject = {};
  #flushedMs: number;
  readonly #refusals: OffsetRefusals;

  /** `limits` null: commits beyond the end are taken, as on a slave. */
  constructor(
    ports: BrokerManagerPorts,
    options: BrokerOptions,
    limits: QueueLimits | null,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.#refusals = new OffsetRefusals(ports);
    this.#limits = limits;
    this.#flushedMs = ports.clock.monotonicMs();
    this.#dataVersion = {
      stateVersion: 0,
      timestamp: ports.clock.nowMs(),
      counter: 0,
    };
    this.#config = new ConfigManager(
      ports,
      OFFSETS_FILE_NAME,
      () => this.encode(),
    );
  }

  /** Reads the file; never throws. */
  load(): void {
    this.#config.load((text) => this.#parse(text), (file) => {
      this.#table = file.table;
      this.#generations = file.generations;
      this.#otherKeys = file.otherKeys;
      this.#dataVersion = file.dataVersion ?? ZERO_DATA_VERSION;
      if (!this.#isSlave && this.hasOwn) this.#promote();
    });
  }

  reconfigure(options: BrokerOptions): void {
    const wasSlave = this.#isSlave;
    this.#options = options;
    if (wasSlave && !this.#isSlave) this.#promote();
  }

  /** Resolves when every commit so far is durable; rejects with a FileError. */
  persist(): Promise<void> {
    return this.#config.persist();
  }

  /** Writes what changed every flushConsumerOffsetInterval; `nowMs` is monotonic. */
  tick(nowMs: number): void {
    const sinceMs = nowMs - this.#flushedMs;
    if (sinceMs < this.#options.flushConsumerOffsetInterval) {
      return;
    }
    this.#flushedMs = nowMs;
    if (this.#config.isChanged) this.#config.persistSoon();
  }

  get dataVersion(): DataVersion {
    if (this.#isVersionOld) {
      this.#isVersionOld = false;
      this.#dataVersion = nextVersion(
        this.#dataVersion,
        this.#ports.clock.nowMs(),
      );
    }
    return this.#dataVersion;
  }

  /** As a master: whatever is written from now on belongs to this epoch, or to a later one. */
  takeEpoch(epoch: number): void {
    const version = this.dataVersion;
    if (version.stateVersion >= epoch) return;
    const nowMs = this.#ports.clock.nowMs();
    this.#dataVersion = nextVersion(version, nowMs, epoch);
    this.#config.changed();
  }

  /** Stores an offset, or gives the sentence that says why not. */
  commitOffset(
    clientHost: string,
    group: string,
    topic: string,
    queueId: number,
    offset: number,
  ): string | undefined {
    const limits = this.#isSlave ? null : this.#limits;
    const refusal = refusalOfCommit(topic, queueId, offset, limits);
    if (refusal !== undefined) {
      this.#refusals.onRefused(refusal, group, clientHost);
      return refusal;
    }
    const queues = this.#table.entry(group, topic);
    const before = queues.offsets.get(queueId);
    if (before === offset) return undefined;
    queues.offsets.set(queueId, offset);
    queues.text = undefined;
    this.#isVersionOld = true;
    const isReset = before !== undefined && offset < before;
    if (this.#isSlave) {
      queues.own ??= new Map();
      queues.own.set(queueId, isReset || queues.own.get(queueId) === true);
    } else if (isReset) this.#raise(group, topic);
    // A reset that a crash forgets would be undone by the other half of the pair.
    if (isReset) this.#config.changed();
    else this.#config.markChanged();
    return undefined;
  }

  /** The master of this slave has taken that offset. */
  forwarded(
    group: string,
    topic: string,
    queueId: number,
    offset: number,
  ): void {
    const queues = this.#table.get(group, topic);
    if (queues === undefined || queues.offsets.get(queueId) !== offset) return;
    forgetOwn(queues, queueId);
    this.#config.markChanged();
  }

  /** The master refused for good what stands here: it has lost those records. */
  refused(
    { group, topic, queueId, offset, theirs }: ConsumerQueueOffset,
  ): void {
    const queues = this.#table.get(group, topic);
    if (queues === undefined || queues.offsets.get(queueId) !== offset) return;
    if (theirs >= 0) queues.offsets.set(queueId, theirs);
    else queues.offsets.delete(queueId);
    queues.text = undefined;
    forgetOwn(queues, queueId);
    this.#changedByMerge();
  }

  /** True while the master may not know what was committed here. */
  isOwn(group: string, topic: string, queueId: number): boolean {
    return this.#table.get(group, topic)?.own?.has(queueId) ?? false;
  }

  /** True while there is anything the master may not know. */
  get hasOwn(): boolean {
    for (const [, , { own }] of this.#table.entries()) {
      if (own !== null) return true;
    }
    return false;
  }

  /**
   * As a slave: takes over a master's answer to 43; `hasGroup` null for a
   * PocketMQ master. What is ahead here must be told to the master. The
   * version is taken with the table and written with it, by `tick`. Throws
   * `BodyError`.
   */
  followMaster(
    text: string,
    hasGroup: ((group: string) => boolean) | null,
  ): OffsetMerge & { readonly dataVersion: DataVersion | undefined } {
    const master = this.#parse(text);
    const target = { table: this.#table, generations: this.#generations };
    const merge = hasGroup === null
      ? followMaster(target, master)
      : followApacheMaster(target, master, hasGroup);
    const { dataVersion } = master;
    if (merge.isChanged) this.#changedByMerge();
    const isEqual = merge.ahead.length === 0 && dataVersion !== undefined;
    if (isEqual) {
      if (!isSameVersion(this.#dataVersion, dataVersion)) {
        this.#config.markChanged();
      }
      this.#dataVersion = dataVersion;
      this.#isVersionOld = false;
    }
    return { ...merge, dataVersion };
  }

  /** As a master that starts: takes forward what a slave answered to 43. Throws `BodyError`. */
  mergeForward(
    text: string,
    hasTopic: (topic: string) => boolean,
  ): OffsetMerge {
    const target = { table: this.#table, generations: this.#generations };
    const merge = mergeForward(
      target,
      this.#parse(text),
      hasTopic,
      (topic, queueId) =>
        this.#limits?.maxOffsetInQueue(topic, queueId) ??
          Number.MAX_SAFE_INTEGER,
    );
    if (merge.isChanged) this.#changedByMerge();
    return merge;
  }

  /**
   * For a broker whose log may have become shorter: no position lies beyond the end of its queue,
   * or messages to come would be skipped. How many groups of a topic it concerned.
   */
  lowerToEnds(): number {
    const limits = this.#limits;
    if (limits === null) return 0;
    const lowered = lowerToEnds(
      this.#table,
      (topic, queueId) => limits.maxOffsetInQueue(topic, queueId),
    );
    // The slaves of a master follow it down.
    for (const [group, topic] of this.#isSlave ? [] : lowered) {
      this.#raise(group, topic);
    }
    if (lowered.length > 0) this.#changedByMerge();
    return lowered.length;
  }

  /** The stored offset, or -1. */
  queryOffset(group: string, topic: string, queueId: number): number {
    return this.#table.get(group, topic)?.offsets.get(queueId) ?? -1;
  }

  /** All stored offsets of a group on a topic by queueId. */
  queryOffsets(group: string, topic: string): ReadonlyMap<number, number> {
    return this.#table.get(group, topic)?.offsets ?? new Map();
  }

  /** Notes where a member pulls. */
  commitPullOffset(
    _clientHost: string,
    group: string,
    topic: string,
    queueId: number,
    offset: number,
  ): void {
    this.#pullOffsets.set(group, topic, queueId, offset);
  }

  /** The last pull offset, or -1. */
  queryPullOffset(group: string, topic: string, queueId: number): number {
    return this.#pullOffsets.get(group, topic, queueId);
  }

  /** Forgets everything of a group. */
  removeOffset(group: string): void {
    this.#pullOffsets.deleteGroup(group);
    const topics = this.#table.topicsOf(group);
    for (const topic of topics) this.#remove(group, topic);
    if (topics.length > 0) this.#replaced();
  }

  /** Forgets a topic in every group: a topic of the same name begins anew. */
  cleanOffsetByTopic(topic: string): void {
    const groups = this.#table.groupsOf(topic);
    for (const group of groups) this.#remove(group, topic);
    this.#pullOffsets.deleteTopic(topic);
    if (groups.length > 0) this.#replaced();
  }

  /** `destGroup` stands on the topic where `srcGroup` does, also where that is backwards. */
  cloneOffset(srcGroup: string, destGroup: string, topic: string): void {
    const source = this.#table.get(srcGroup, topic);
    if (source === undefined || srcGroup === destGroup) return;
    this.#remove(destGroup, topic);
    const { offsets } = this.#table.entry(destGroup, topic);
    for (const [queueId, offset] of source.offsets) {
      offsets.set(queueId, offset);
    }
    this.#replaced();
  }

  /** Topics on which the group has offsets. */
  whichTopicByConsumer(group: string): string[] {
    return this.#table.topicsOf(group);
  }

  /** Groups that have offsets on the topic. */
  whichGroupByTopic(topic: string): string[] {
    return this.#table.groupsOf(topic);
  }

  /** The whole file: Apache's keys in Apache's layout, queue ids quoted. */
  encode(): string {
    return offsetsFileText(
      this.#table,
      this.#generations,
      this.dataVersion,
      this.#otherKeys,
    );
  }

  get #isSlave(): boolean {
    return this.#options.brokerRole === "SLAVE";
  }

  #parse(text: string): OffsetsFile {
    return parseOffsets(
      text,
      (key, error) =>
        this.#ports.logger.warn(
          `an entry of ${OFFSETS_FILE_NAME} was left out`,
          {
            entry: shown(key, 512),
            error: String(error),
          },
        ),
    );
  }

  /** Resets made here while no master lived are this master's now. */
  #promote(): void {
    for (const [group, topic, queues] of this.#table.entries()) {
      if (queues.own === null) continue;
      if ([...queues.own.values()].includes(true)) this.#raise(group, topic);
      queues.own = null;
      this.#isVersionOld = true;
    }
    this.#config.changed();
  }

  #remove(group: string, topic: string): void {
    this.#table.delete(group, topic);
    // The generations of a pair are its master's.
    if (!this.#isSlave) this.#raise(group, topic);
  }

  #raise(group: string, topic: string): void {
    const nowMs = this.#ports.clock.nowMs();
    this.#generations.raise(topicAtGroup(topic, group), nowMs);
  }

  #replaced(): void {
    this.#isVersionOld = true;
    this.#config.changed();
  }

  #changedByMerge(): void {
    this.#isVersionOld = true;
    this.#config.markChanged();
  }
}
