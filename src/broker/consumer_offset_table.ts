/**
 * ConsumerOffsetTable: offsets by group, topic and queue, and the text of
 * `config/consumerOffset.json` (reference 4.8, 8.3).
 */
import type { DataVersion } from "../model/data_version.ts";
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
import { OffsetGenerations } from "./offset_generations.ts";
import { parseTableText } from "./table_file.ts";

export const OFFSETS_FILE_NAME = "consumerOffset.json";
const OFFSET_TABLE = "offsetTable";
/** Ours: queues of which a slave holds commits that its master may not have. */
const OWN_COMMITS = "ownCommits";
/** A file key is `topic@group`; neither name may hold the sign. */
const TOPIC_GROUP_SEPARATOR = "@";
/** Keys that are derived or written anew, so never kept. */
const WRITTEN_KEYS: ReadonlySet<string> = new Set([
  "dataVersion",
  "groupTopicMap",
  "offsetGenerations",
  OWN_COMMITS,
  OFFSET_TABLE,
]);

/** Offsets of one group on one topic. */
export interface QueueOffsets {
  /** By queueId. */
  readonly offsets: Map<number, number>;
  /** Queues committed here, on a slave, unknown to the master; true: set back. Null: none. */
  own: Map<number, boolean> | null;
  /** The file's text of them; undefined after a change. */
  text: string | undefined;
}

/** What a file, or the answer of another broker, held. */
export interface OffsetsFile {
  readonly table: ConsumerOffsetTable;
  readonly generations: OffsetGenerations;
  /** Undefined in answers of 4.9 brokers. */
  readonly dataVersion: DataVersion | undefined;
  readonly otherKeys: JsonObject;
}

/** The key of a group on a topic. */
export function topicAtGroup(topic: string, group: string): string {
  return topic + TOPIC_GROUP_SEPARATOR + group;
}

/** The table. */
export class ConsumerOffsetTable {
  /** By group, then topic. */
  readonly #groups = new Map<string, Map<string, QueueOffsets>>();

  get(group: string, topic: string): QueueOffsets | undefined {
    return this.#groups.get(group)?.get(topic);
  }

  /** The entry, made when it is not there. */
  entry(group: string, topic: string): QueueOffsets {
    let topics = this.#groups.get(group);
    if (topics === undefined) this.#groups.set(group, topics = new Map());
    let queues = topics.get(topic);
    if (queues === undefined) {
      queues = { offsets: new Map(), own: null, text: undefined };
      topics.set(topic, queues);
    }
    return queues;
  }

  *entries(): Iterable<readonly [string, string, QueueOffsets]> {
    for (const [group, topics] of this.#groups) {
      for (const [topic, queues] of topics) yield [group, topic, queues];
    }
  }

  /** False when there was none. */
  delete(group: string, topic: string): boolean {
    const topics = this.#groups.get(group);
    if (topics === undefined || !topics.delete(topic)) return false;
    if (topics.size === 0) this.#groups.delete(group);
    return true;
  }

  /** Topics on which the group has offsets. */
  topicsOf(group: string): string[] {
    return [...this.#groups.get(group)?.keys() ?? []];
  }

  /** Groups that have offsets on the topic. */
  groupsOf(topic: string): string[] {
    const groups: string[] = [];
    for (const [group, topics] of this.#groups) {
      if (topics.has(topic)) groups.push(group);
    }
    return groups;
  }
}

/**
 * Reads a whole file or answer. An entry of no use is handed to `leftOut`;
 * throws `BodyError` when the text is nothing of the kind.
 */
export function parseOffsets(
  text: string,
  leftOut: (key: string, error: unknown) => void,
): OffsetsFile {
  const { json, table: jsonTable } = parseTableText(
    text,
    OFFSETS_FILE_NAME,
    OFFSET_TABLE,
  );
  const table = new ConsumerOffsetTable();
  for (const [key, value] of Object.entries(jsonTable)) {
    try {
      takeEntry(table, key, objectOf(value, key));
    } catch (error) {
      leftOut(key, error);
    }
  }
  for (
    const [key, ids] of Object.entries(objectOf(json[OWN_COMMITS], OWN_COMMITS))
  ) {
    const [topic, group] = splitKey(key);
    const queues = table.get(group, topic);
    if (queues === undefined) continue;
    queues.own = new Map(
      Object.entries(objectOf(ids, key)).map(([queueId, isReset]) => [
        integerOf(queueId, key),
        isReset === true,
      ]),
    );
  }
  return {
    table,
    generations: OffsetGenerations.fromJson(json),
    dataVersion: json.dataVersion === undefined || json.dataVersion === null
      ? undefined
      : dataVersionFromJson(json.dataVersion),
    otherKeys: Object.fromEntries(
      Object.entries(json).filter(([key]) => !WRITTEN_KEYS.has(key)),
    ),
  };
}

/** The whole file: Apache's keys in Apache's layout, queue ids quoted; ours only when needed. */
export function offsetsFileText(
  table: ConsumerOffsetTable,
  generations: OffsetGenerations,
  dataVersion: DataVersion,
  otherKeys: JsonObject,
): string {
  const entries: string[] = [];
  const own: Record<string, unknown> = Object.create(null);
  let hasOwn = false;
  for (const [group, topic, queues] of table.entries()) {
    const key = topicAtGroup(topic, group);
    queues.text ??= offsetsText(key, queues.offsets);
    entries.push(queues.text);
    if (queues.own === null) continue;
    own[key] = Object.fromEntries(queues.own);
    hasOwn = true;
  }
  const keys: JsonObject = {
    ...otherKeys,
    dataVersion: dataVersionToJson(dataVersion),
    ...generations.toJson(),
    ...(hasOwn ? { [OWN_COMMITS]: own } : {}),
  };
  const members = Object.entries(keys).map(([key, value]) =>
    prettyMember(key, value, 0)
  );
  members.push(
    `${JSON.stringify(OFFSET_TABLE)}:${joinPrettyObject(entries, 1)}`,
  );
  return joinPrettyObject(members, 0);
}

/** Topic and group of a key; throws `SyntaxError`. */
export function splitKey(key: string): [string, string] {
  const at = key.indexOf(TOPIC_GROUP_SEPARATOR);
  if (at <= 0 || at === key.length - 1) {
    throw new SyntaxError("the key is no topic@group");
  }
  return [key.slice(0, at), key.slice(at + 1)];
}

function takeEntry(
  table: ConsumerOffsetTable,
  key: string,
  value: JsonObject,
): void {
  const [topic, group] = splitKey(key);
  const queues = table.entry(group, topic);
  for (const [queueId, offset] of Object.entries(value)) {
    const number = integerOf(offset, queueId);
    if (number >= 0) queues.offsets.set(integerOf(queueId, key), number);
  }
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
