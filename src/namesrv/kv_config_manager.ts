/** KVConfigManager: small texts by namespace and key, kept in `kvConfig.json` (reference 10.5). */
import { jsonOfMap, mapField, objectOf } from "../protocol/body/json_fields.ts";
import { parseFastjson } from "../protocol/fastjson.ts";

/** A JSON file that is replaced as a whole. */
export interface JsonTextFile {
  /** What `parse` makes of the content; undefined when there is none that it takes. */
  read<T>(parse: (text: string) => T): T | undefined;
  /** Resolves once the content survives power loss. */
  write(text: string): Promise<void>;
}

/** The namespace of `topic -> broker-a:4;broker-b:4`. */
export const NAMESPACE_ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG";

/** A put that would pass the limit; answered with code 1. */
export class KVConfigFullError extends Error {
  override readonly name = "KVConfigFullError";
}

type ConfigTable = Map<string, Map<string, string>>;

/** All KV entries. */
export class KVConfigManager {
  #table: ConfigTable = new Map();
  #entryCount = 0;
  readonly #file: JsonTextFile | undefined;
  readonly #entriesMax: number;

  /** Without a file the entries live as long as the process. */
  constructor(file: JsonTextFile | undefined, entriesMax: number) {
    this.#file = file;
    this.#entriesMax = entriesMax;
  }

  load(): void {
    this.#table = this.#file?.read(parseConfigTable) ?? new Map();
    this.#entryCount = 0;
    for (const entries of this.#table.values()) {
      this.#entryCount += entries.size;
    }
  }

  /** Resolves once the entry is durable; rejects with `KVConfigFullError` or a file error. */
  put(namespace: string, key: string, value: string): Promise<void> {
    let entries = this.#table.get(namespace);
    if (entries?.get(key) === value) return Promise.resolve();
    if (entries?.has(key) !== true) {
      if (this.#entryCount >= this.#entriesMax) {
        return Promise.reject(
          new KVConfigFullError(
            `The KV table holds ${this.#entryCount} entries, which is kvConfigEntriesMax`,
          ),
        );
      }
      this.#entryCount++;
    }
    if (entries === undefined) {
      entries = new Map();
      this.#table.set(namespace, entries);
    }
    entries.set(key, value);
    return this.#persist();
  }

  get(namespace: string, key: string): string | undefined {
    return this.#table.get(namespace)?.get(key);
  }

  /** The entries of a namespace; undefined when there are none. */
  namespace(namespace: string): ReadonlyMap<string, string> | undefined {
    return this.#table.get(namespace);
  }

  /** Resolves once the entry is durably gone; a missing one is no error. */
  delete(namespace: string, key: string): Promise<void> {
    const entries = this.#table.get(namespace);
    if (entries === undefined || !entries.delete(key)) {
      return Promise.resolve();
    }
    this.#entryCount--;
    if (entries.size === 0) this.#table.delete(namespace);
    return this.#persist();
  }

  #persist(): Promise<void> {
    return this.#file?.write(formatConfigTable(this.#table)) ??
      Promise.resolve();
  }
}

/** Reads `{"configTable":{namespace:{key:value}}}`; throws on another shape. */
function parseConfigTable(text: string): ConfigTable {
  const json = objectOf(parseFastjson(text), "kvConfig.json");
  return mapField(
    json,
    "configTable",
    (entries, namespace) =>
      mapField(
        { entries: objectOf(entries, namespace) },
        "entries",
        (it) => String(it),
      ),
  );
}

function formatConfigTable(table: ConfigTable): string {
  const configTable = jsonOfMap(
    table,
    (entries) => jsonOfMap(entries, (it) => it),
  );
  return JSON.stringify({ configTable }, null, "\t");
}
