/**
 * ConsumerOffsetManager: where each group stands in each queue, kept in
 * `config/consumerOffset.json` (reference 4.8, 9.6).
 *
 * The last commit wins, also a smaller one; a negative one, and one beyond the
 * queue's end, is refused: it would come back as a lost position or as
 * negative lag.
 */
import { shown } from "../base/shown.ts";
import { type DataVersion, nextVersion } from "../model/data_version.ts";
import {
  dataVersionFromJson,
  dataVersionToJson,
} from "../protocol/body/data_version_body.ts";
import {
  integerOf,
  type JsonObject,
  objectOf,
} from "../protocol/body/json_fields.ts";
import { joinPrettyObject, prettyMember } from "../protocol/pretty_fastjson.ts";
import type { BrokerOptions } from "./broker_options.ts";
import { type BrokerManagerPorts, ConfigManager } from "./config_manager.ts";
import { parseTableText } from "./table_file.ts";

const FILE_NAME = "consumerOffset.json";
const OFFSET_TABLE = "offsetTable";
/** A file key is `topic@group`; neither name may hold the sign. */
const TOPIC_GROUP_SEPARATOR = "@";
/** Keys that are derived or written anew, so never kept. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  "dataVersion",
  "groupTopicMap",
  OFFSET_TABLE,
]);
const REFUSAL_LOG_INTERVAL_MS = 60_000;

/** What the store knows of a queue's end. */
export interface QueueLimits {
  maxOffsetInQueue(topic: string, queueId: number): number;
}

/** Offsets of one group on one topic. */
interface QueueOffsets {
  /** By queueId. */
  readonly offsets: Map<number, number>;
  /** The file's text of them; undefined after a change. */
  text: string | undefined;
}

/** The offsets. */
export class ConsumerOffsetManager {
  readonly #ports: BrokerManagerPorts;
  readonly #limits: QueueLimits | null;
  readonly #config: ConfigManager;
  /** By group, then topic. */
  readonly #groups = new Map<string, Map<string, QueueOffsets>>();
  /** Where members pull, in memory only: by group, then topic, then queueId. */
  readonly #pullOffsets = new Map<string, Map<string, Map<number, number>>>();
  #options: BrokerOptions;
  #dataVersion: DataVersion;
  /** True when offsets changed since `#dataVersion` was made. */
  #isVersionOld = false;
  #otherKeys: JsonObject = {};
  #flushedMs: number;
  #refusedCount = 0;
  #refusalLoggedMs = -Infinity;

  /** `limits` null: commits beyond the end are taken, as a slave must. */
  constructor(
    ports: BrokerManagerPorts,
    options: BrokerOptions,
    limits: QueueLimits | null,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.#limits = limits;
    this.#flushedMs = ports.clock.monotonicMs();
    this.#dataVersion = {
      stateVersion: 0,
      timestamp: ports.clock.nowMs(),
      counter: 0,
    };
    this.#config = new ConfigManager(ports, FILE_NAME, () => this.encode());
  }

  /** Reads the file; never throws. */
  load(): void {
    this.#config.load(parseOffsetsFile, (file) => this.#take(file));
  }

  reconfigure(options: BrokerOptions): void {
    this.#options = options;
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

  /** Stores an offset, or gives the sentence that says why not. */
  commitOffset(
    clientHost: string,
    group: string,
    topic: string,
    queueId: number,
    offset: number,
  ): string | undefined {
    const refusal = this.#refusalOf(topic, queueId, offset);
    if (refusal !== undefined) {
      this.#logRefusal(refusal, group, clientHost);
      return refusal;
    }
    const queues = this.#queuesOf(group, topic);
    if (queues.offsets.get(queueId) === offset) return undefined;
    queues.offsets.set(queueId, offset);
    queues.text = undefined;
    this.#config.markChanged();
    this.#isVersionOld = true;
    return undefined;
  }

  /** The stored offset, or -1. */
  queryOffset(group: string, topic: string, queueId: number): number {
    return this.#groups.get(group)?.get(topic)?.offsets.get(queueId) ?? -1;
  }

  /** All stored offsets of a group on a topic by queueId. */
  queryOffsets(group: string, topic: string): ReadonlyMap<number, number> {
    return this.#groups.get(group)?.get(topic)?.offsets ?? new Map();
  }

  /** Notes where a member pulls. */
  commitPullOffset(
    _clientHost: string,
    group: string,
    topic: string,
    queueId: number,
    offset: number,
  ): void {
    let topics = this.#pullOffsets.get(group);
    if (topics === undefined) this.#pullOffsets.set(group, topics = new Map());
    let queues = topics.get(topic);
    if (queues === undefined) topics.set(topic, queues = new Map());
    queues.set(queueId, offset);
  }

  /** The last pull offset, or -1. */
  queryPullOffset(group: string, topic: string, queueId: number): number {
    return this.#pullOffsets.get(group)?.get(topic)?.get(queueId) ?? -1;
  }

  /** Forgets everything of a group. */
  removeOffset(group: string): void {
    this.#pullOffsets.delete(group);
    if (this.#groups.delete(group)) this.#removed();
  }

  /** Forgets a topic in every group: a topic of the same name begins anew. */
  cleanOffsetByTopic(topic: string): void {
    let isChanged = false;
    for (const [group, topics] of this.#groups) {
      if (!topics.delete(topic)) continue;
      isChanged = true;
      if (topics.size === 0) this.#groups.delete(group);
    }
    for (const [group, topics] of this.#pullOffsets) {
      if (topics.delete(topic) && topics.size === 0) {
        this.#pullOffsets.delete(group);
      }
    }
    if (isChanged) this.#removed();
  }

  /** Topics on which the group has offsets. */
  whichTopicByConsumer(group: string): string[] {
    return [...this.#groups.get(group)?.keys() ?? []];
  }

  /** Groups that have offsets on the topic. */
  whichGroupByTopic(topic: string): string[] {
    const groups: string[] = [];
    for (const [group, topics] of this.#groups) {
      if (topics.has(topic)) groups.push(group);
    }
    return groups;
  }

  /** The whole file: Apache's keys in Apache's layout, queue ids quoted. */
  encode(): string {
    const entries: string[] = [];
    for (const [group, topics] of this.#groups) {
      for (const [topic, queues] of topics) {
        queues.text ??= offsetsText(
          topic + TOPIC_GROUP_SEPARATOR + group,
          queues.offsets,
        );
        entries.push(queues.text);
      }
    }
    const members = Object.entries(this.#otherKeys).map(([key, value]) =>
      prettyMember(key, value, 0)
    );
    members.push(
      prettyMember("dataVersion", dataVersionToJson(this.dataVersion), 0),
      `${JSON.stringify(OFFSET_TABLE)}:${joinPrettyObject(entries, 1)}`,
    );
    return joinPrettyObject(members, 0);
  }

  #take(file: OffsetsFile): void {
    for (const [key, value] of Object.entries(file.table)) {
      try {
        this.#takeEntry(key, objectOf(value, key));
      } catch (error) {
        this.#ports.logger.warn(`an entry of ${FILE_NAME} was left out`, {
          entry: shown(key, 512),
          error: String(error),
        });
      }
    }
    this.#dataVersion = file.dataVersion;
    this.#otherKeys = file.otherKeys;
  }

  #takeEntry(key: string, value: JsonObject): void {
    const at = key.indexOf(TOPIC_GROUP_SEPARATOR);
    if (at <= 0 || at === key.length - 1) {
      throw new SyntaxError("the key is no topic@group");
    }
    const queues = this.#queuesOf(key.slice(at + 1), key.slice(0, at));
    for (const [queueId, offset] of Object.entries(value)) {
      const number = integerOf(offset, queueId);
      if (number >= 0) queues.offsets.set(integerOf(queueId, key), number);
    }
  }

  #queuesOf(group: string, topic: string): QueueOffsets {
    let topics = this.#groups.get(group);
    if (topics === undefined) this.#groups.set(group, topics = new Map());
    let queues = topics.get(topic);
    if (queues === undefined) {
      topics.set(topic, queues = { offsets: new Map(), text: undefined });
    }
    return queues;
  }

  #refusalOf(
    topic: string,
    queueId: number,
    offset: number,
  ): string | undefined {
    if (queueId < 0) return `The queueId ${queueId} is negative.`;
    if (offset < 0) return `The commitOffset ${offset} is negative.`;
    if (this.#limits === null) return undefined;
    const max = this.#limits.maxOffsetInQueue(topic, queueId);
    if (offset <= max) return undefined;
    return `The commitOffset ${offset} is beyond the max offset ${max} of ` +
      `queue ${queueId} of topic ${shown(topic)}.`;
  }

  #logRefusal(refusal: string, group: string, clientHost: string): void {
    this.#refusedCount++;
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs - this.#refusalLoggedMs < REFUSAL_LOG_INTERVAL_MS) return;
    this.#refusalLoggedMs = nowMs;
    this.#ports.logger.warn("a consumer offset was refused", {
      reason: refusal,
      group,
      client: clientHost,
      refusedSinceStart: this.#refusedCount,
    });
  }

  #removed(): void {
    this.#isVersionOld = true;
    this.#config.changed();
  }
}

interface OffsetsFile {
  readonly table: JsonObject;
  readonly dataVersion: DataVersion;
  readonly otherKeys: JsonObject;
}

/** Throws `BodyError` when the text is no consumerOffset.json. */
function parseOffsetsFile(text: string): OffsetsFile {
  const { json, table } = parseTableText(text, FILE_NAME, OFFSET_TABLE);
  return {
    table,
    dataVersion: dataVersionFromJson(json.dataVersion),
    otherKeys: Object.fromEntries(
      Object.entries(json).filter(([key]) => !OWN_KEYS.has(key)),
    ),
  };
}

/**
 * One member of the offset table. Written by hand, since all active groups
 * change between two writes and share the loop with the messages.
 */
function offsetsText(
  key: string,
  offsets: ReadonlyMap<number, number>,
): string {
  let text = `${JSON.stringify(key)}:{`;
  let separator = "";
  for (const [queueId, offset] of offsets) {
    text += `${separator}\n\t\t\t"${queueId}":${offset}`;
    separator = ",";
  }
  return separator === "" ? `${text}}` : `${text}\n\t\t}`;
}
