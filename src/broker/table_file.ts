/**
 * TableFile: the text of `{dataVersion, <tableKey>:{name: entry}}` files, as
 * topics.json and subscriptionGroup.json are (reference 4.8).
 *
 * Keys that other versions of RocketMQ put into the file or into an entry are
 * kept and written back.
 */
import { shown } from "../base/shown.ts";
import type { Logger } from "../io/logger.ts";
import type { DataVersion } from "../model/data_version.ts";
import {
  dataVersionFromJson,
  dataVersionToJson,
} from "../protocol/body/data_version_body.ts";
import {
  BodyError,
  type JsonObject,
  objectOf,
} from "../protocol/body/json_fields.ts";
import { parseFastjson } from "../protocol/fastjson.ts";
import { joinPrettyObject, prettyMember } from "../protocol/pretty_fastjson.ts";

const DATA_VERSION = "dataVersion";

/** How one kind of table is read and written. */
export interface TableCodec<T> {
  readonly fileName: string;
  readonly tableKey: string;
  fromJson(json: JsonObject, name: string): T;
  toJson(entry: T): JsonObject;
  /** The keys that `toJson` writes, all others are kept here; null: an entry keeps its own. */
  readonly entryKeys: ReadonlySet<string> | null;
}

/** What a file held. */
export interface LoadedTable<T> {
  readonly table: ReadonlyMap<string, T>;
  readonly dataVersion: DataVersion;
  /** Every key of the file that is neither the table nor its version. */
  readonly otherKeys: JsonObject;
}

/** Reads a whole file; throws `BodyError` when `text` is no JSON object that holds `tableKey`. */
export function parseTableText(
  text: string,
  fileName: string,
  tableKey: string,
): { json: JsonObject; table: JsonObject } {
  let json: unknown;
  try {
    json = parseFastjson(text);
  } catch (cause) {
    throw new BodyError(`${fileName} is no JSON`, { cause });
  }
  const table = json === null || typeof json !== "object"
    ? undefined
    : (json as JsonObject)[tableKey];
  if (table === null || typeof table !== "object" || Array.isArray(table)) {
    throw new BodyError(`${fileName} holds no object ${tableKey}`);
  }
  return { json: json as JsonObject, table: table as JsonObject };
}

/** Reads and writes one file; an entry that did not change is not encoded again. */
export class TableFile<T> {
  readonly #codec: TableCodec<T>;
  readonly #logger: Logger;
  readonly #texts = new Map<string, string>();
  readonly #otherEntryKeys = new Map<string, JsonObject>();
  #otherKeys: JsonObject = {};

  constructor(codec: TableCodec<T>, logger: Logger) {
    this.#codec = codec;
    this.#logger = logger;
  }

  /**
   * Reads the file's text. An entry of no use is named in a warning and left
   * out; throws `BodyError` when the text is no such file at all.
   */
  decode(text: string): LoadedTable<T> {
    const { fileName, tableKey, entryKeys } = this.#codec;
    const { json, table: jsonTable } = parseTableText(text, fileName, tableKey);
    const dataVersion = dataVersionFromJson(json[DATA_VERSION]);
    const table = new Map<string, T>();
    for (const [name, value] of Object.entries(jsonTable)) {
      try {
        const entry = objectOf(value ?? "null", name);
        table.set(name, this.#codec.fromJson(entry, name));
        const others = entryKeys && without(entry, entryKeys);
        if (others) this.#otherEntryKeys.set(name, others);
      } catch (error) {
        this.#logger.warn(`an entry of ${fileName} was left out`, {
          entry: shown(name),
          error: String(error),
        });
      }
    }
    const otherKeys = without(json, new Set([DATA_VERSION, tableKey])) ?? {};
    this.#otherKeys = otherKeys;
    return { table, dataVersion, otherKeys };
  }

  /**
   * The file as another broker's answer makes it: entries with all their keys
   * from `text`, the other keys of the file from here. Throws `BodyError`.
   */
  replacedBy(text: string): { file: TableFile<T>; loaded: LoadedTable<T> } {
    const file = new TableFile(this.#codec, this.#logger);
    const loaded = file.decode(text);
    file.#otherKeys = this.#otherKeys;
    return { file, loaded };
  }

  /** Takes over what is kept of an entry that `from` holds. */
  keep(name: string, from: TableFile<T>): void {
    const others = from.#otherEntryKeys.get(name);
    if (others !== undefined) this.#otherEntryKeys.set(name, others);
    this.changed(name);
  }

  /** The entry's text must be made anew. */
  changed(name: string): void {
    this.#texts.delete(name);
  }

  /** The entry is gone, its unknown keys with it. */
  forget(name: string): void {
    this.#texts.delete(name);
    this.#otherEntryKeys.delete(name);
  }

  /**
   * The whole text, keys sorted as Apache writes them; `fields` replace
   * unknown keys, undefined takes one away.
   */
  encode(
    table: ReadonlyMap<string, T>,
    dataVersion: DataVersion,
    fields: JsonObject = {},
  ): string {
    const { tableKey } = this.#codec;
    const entries: string[] = [];
    for (const [name, entry] of table) {
      entries.push(this.#texts.get(name) ?? this.#encodeEntry(name, entry));
    }
    const file: JsonObject = {
      ...this.#otherKeys,
      ...fields,
      [DATA_VERSION]: dataVersionToJson(dataVersion),
      [tableKey]: null,
    };
    const keys = Object.keys(file).filter((key) => file[key] !== undefined);
    const members = keys.sort().map((key) =>
      key === tableKey
        ? `${JSON.stringify(key)}:${joinPrettyObject(entries, 1)}`
        : prettyMember(key, file[key], 0)
    );
    return joinPrettyObject(members, 0);
  }

  #encodeEntry(name: string, entry: T): string {
    const others = this.#otherEntryKeys.get(name);
    const known = this.#codec.toJson(entry);
    const json = others === undefined
      ? known
      : sortedByKey({ ...others, ...known });
    const text = prettyMember(name, json, 1);
    this.#texts.set(name, text);
    return text;
  }
}

function sortedByKey(json: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.keys(json).sort().map((key) => [key, json[key]]),
  );
}

/** The other keys; undefined when there are none. */
function without(
  json: JsonObject,
  keys: ReadonlySet<string>,
): JsonObject | undefined {
  const others = Object.entries(json).filter(([key, value]) =>
    !keys.has(key) && value !== null && value !== undefined
  );
  return others.length === 0 ? undefined : Object.fromEntries(others);
}
