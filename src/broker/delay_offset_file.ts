/**
 * DelayOffsetFile: `config/delayOffset.json`, where the delivery of delay
 * levels stands. Kept as it was found, or as the master has it, and
 * answered to slaves (code 45).
 */
import { type DataVersion, nextVersion } from "../model/data_version.ts";
import {
  dataVersionFromJson,
  dataVersionToJson,
} from "../protocol/body/data_version_body.ts";
import type { Clock } from "../io/clock.ts";
import { integerOf, type JsonObject } from "../protocol/body/json_fields.ts";
import { writePrettyFastjson } from "../protocol/pretty_fastjson.ts";
import type { MetadataFile } from "./config_manager.ts";
import { parseTableText } from "./table_file.ts";

const OFFSET_TABLE = "offsetTable";

/** The offsets of the delay levels. */
export class DelayOffsetFile {
  readonly #file: MetadataFile;
  readonly #clock: Clock;
  #json: JsonObject;

  constructor(file: MetadataFile, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
    this.#json = {
      // A 5.x slave fails on a missing version.
      dataVersion: dataVersionToJson({
        stateVersion: 0,
        timestamp: clock.nowMs(),
        counter: 0,
      }),
      [OFFSET_TABLE]: {},
    };
  }

  /** Reads the file; a file of no use changes nothing. Never throws. */
  load(): void {
    try {
      const json = this.#file.read(decode);
      if (json !== undefined) this.#json = { ...this.#json, ...json };
    } catch {
      // JsonFile has said so; delivery begins at the queues' min offsets.
    }
  }

  /** The next offset to deliver by delay level. */
  offsets(): ReadonlyMap<number, number> {
    const table = this.#json[OFFSET_TABLE] as JsonObject;
    return new Map(
      Object.entries(table).map((
        [level, offset],
      ) => [integerOf(level, OFFSET_TABLE), integerOf(offset, level)]),
    );
  }

  get dataVersion(): DataVersion {
    return dataVersionFromJson(this.#json.dataVersion);
  }

  /** As a master: the next write belongs to this epoch, or to a later one. */
  takeEpoch(epoch: number): void {
    const version = this.dataVersion;
    if (version.stateVersion >= epoch) return;
    const next = nextVersion(version, this.#clock.nowMs(), epoch);
    this.#json = { ...this.#json, dataVersion: dataVersionToJson(next) };
  }

  /**
   * As a slave: takes over a master's answer to 45 once it is durable. Rejects
   * with `BodyError` or `FileError`, and then nothing has changed.
   */
  async replaceAll(text: string): Promise<void> {
    const json: JsonObject = { ...this.#json, ...decode(text) };
    const next = writePrettyFastjson(json);
    if (next === this.encode()) return;
    await this.#file.write(next);
    this.#json = json;
  }

  /** The whole file's text. */
  encode(): string {
    return writePrettyFastjson(this.#json);
  }
}

/** Throws when the text is no delayOffset.json. */
function decode(text: string): JsonObject {
  const { json, table } = parseTableText(
    text,
    "delayOffset.json",
    OFFSET_TABLE,
  );
  for (const [level, offset] of Object.entries(table)) {
    integerOf(level, OFFSET_TABLE);
    integerOf(offset, level);
  }
  const version = dataVersionFromJson(json.dataVersion);
  return json.dataVersion === undefined
    ? json
    : { ...json, dataVersion: dataVersionToJson(version) };
}
