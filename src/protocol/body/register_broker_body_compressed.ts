/**
 * RegisterBrokerBody, compressed form: a zlib stream of (reference 10.2)
 *
 * | order | size  | type | field             | note                                      |
 * | ----: | ----: | ---- | ----------------- | ----------------------------------------- |
 * |     1 | 4 + n | text | dataVersion       | i32 length, JSON                          |
 * |     2 |     4 | i32  | topicCount        |                                           |
 * |     3 | 4 + n | text | topic             | `name read write perm filterType [attrs]` |
 * |     4 | 4 + n | text | filterServerList  | i32 length, JSON array                    |
 * |     5 |     4 | i32  | topicMappingCount | from version 5.0.0 on                     |
 *
 * Row 3 is there `topicCount` times. Integers are big-endian, texts UTF-8.
 * `order` and `topicSysFlag` are not carried. 4.9 readers refuse a topic with
 * six items, so attributes are written only where there are some.
 */
import { shown } from "../../base/shown.ts";
import { deflate, inflate } from "../../base/zlib.ts";
import type { TopicConfig } from "../../model/topic_config.ts";
import { dataVersionFromJson, dataVersionToJson } from "./data_version_body.ts";
import {
  arrayOf,
  BodyError,
  decodeJson,
  encodeJson,
  objectOf,
} from "./json_fields.ts";
import type { RegisterBrokerBody } from "./register_broker_body.ts";
import { topicFilterTypeOf } from "./topic_config_body.ts";

const DEFLATE_LEVEL = 9;
/** About 600,000 topics; more is an attack or a mistake. */
const INFLATED_SIZE_MAX = 64 * 1024 * 1024;
const ITEM_COUNT = 5;

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/** The compressed form. */
export function encodeCompressedRegisterBrokerBody(
  body: RegisterBrokerBody,
): Uint8Array {
  const { dataVersion, topicConfigTable } = body.topicConfigSerializeWrapper;
  const parts: Uint8Array[] = [];
  pushText(parts, encodeJson(dataVersionToJson(dataVersion)));
  parts.push(int32Bytes(topicConfigTable.size));
  for (const config of topicConfigTable.values()) {
    pushText(parts, ENCODER.encode(topicLine(config)));
  }
  pushText(parts, encodeJson(body.filterServerList));
  parts.push(int32Bytes(0)); // No static topics.
  return deflate(concatenate(parts), DEFLATE_LEVEL);
}

/** Reads the compressed form; throws `BodyError` or `ZlibError`. */
export function decodeCompressedRegisterBrokerBody(
  bytes: Uint8Array,
): RegisterBrokerBody {
  const reader = new TextReader(inflate(bytes, INFLATED_SIZE_MAX));
  const dataVersion = dataVersionFromJson(
    decodeJson(reader.nextBytes(), "DataVersion"),
  );
  const topicConfigTable = new Map<string, TopicConfig>();
  for (let left = reader.nextInt32(); left > 0; left--) {
    const config = parseTopicLine(DECODER.decode(reader.nextBytes()));
    topicConfigTable.set(config.topicName, config);
  }
  const filterServers = decodeJson(reader.nextBytes(), "filterServerList");
  return {
    topicConfigSerializeWrapper: { dataVersion, topicConfigTable },
    filterServerList: arrayOf(filterServers, "filterServerList").map(String),
  };
}

function topicLine(config: TopicConfig): string {
  const line =
    `${config.topicName} ${config.readQueueNums} ${config.writeQueueNums} ` +
    `${config.perm} ${config.topicFilterType}`;
  return Object.keys(config.attributes).length === 0
    ? line
    : `${line} ${JSON.stringify(config.attributes)}`;
}

function parseTopicLine(line: string): TopicConfig {
  const items = line.split(" ");
  const [topicName, read, write, perm, filterType] = items;
  const numbers = [read, write, perm].map(Number);
  if (items.length < ITEM_COUNT || !numbers.every(Number.isInteger)) {
    throw new BodyError(`Cannot read a registered topic: "${shown(line)}"`);
  }
  return {
    topicName: topicName!,
    readQueueNums: numbers[0]!,
    writeQueueNums: numbers[1]!,
    perm: numbers[2]!,
    topicFilterType: topicFilterTypeOf(filterType),
    topicSysFlag: 0,
    order: false,
    attributes: parseAttributes(items.slice(ITEM_COUNT).join(" ")),
  };
}

function parseAttributes(json: string): Record<string, string> {
  if (json === "") return {};
  const object = objectOf(
    decodeJson(ENCODER.encode(json), "attributes"),
    "attributes",
  );
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, String(value)]),
  );
}

function int32Bytes(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setInt32(0, value);
  return bytes;
}

function pushText(parts: Uint8Array[], text: Uint8Array): void {
  parts.push(int32Bytes(text.length), text);
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, it) => sum + it.length, 0));
  let position = 0;
  for (const part of parts) {
    bytes.set(part, position);
    position += part.length;
  }
  return bytes;
}

/** Walks the inflated bytes; every length is checked against what is left. */
class TextReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  nextInt32(): number {
    if (this.#position + 4 > this.#bytes.length) throw this.#cut();
    const value = this.#view.getInt32(this.#position);
    this.#position += 4;
    return value;
  }

  nextBytes(): Uint8Array {
    const size = this.nextInt32();
    const end = this.#position + size;
    if (size < 0 || end > this.#bytes.length) throw this.#cut();
    const bytes = this.#bytes.subarray(this.#position, end);
    this.#position = end;
    return bytes;
  }

  #cut(): BodyError {
    return new BodyError(
      `Cannot read RegisterBrokerBody: it is cut at ${this.#position} of ${this.#bytes.length}`,
    );
  }
}
