/**
 * DelayOffsetFile: `config/delayOffset.json`, where the delivery of delay
 * levels stands: as this master wrote it last, or as a slave's master has it;
 * answered to slaves (code 45).
 *
 * Keys of ours: `deliveredUntil`, where the master's log ended then. What was
 * delivered lies below; a slave takes the offsets once its log is that long.
 * `timers`: what of the timer messages is done.
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
import {
  type TimerProgress,
  timerProgressFromJson,
  timerProgressToJson,
} from "./timer/timer_progress.ts";

const OFFSET_TABLE = "offsetTable";
const DELIVERED_UNTIL = "deliveredUntil";
const TIMERS = "timers";

/** The offsets of the delay levels. */
export class DelayOffsetFile {
  readonly #file: MetadataFile;
  readonly #clock: Clock;
  #json: JsonObject;
  /** What the last write holds, or will hold. */
  #requested: JsonObject;

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
    this.#requested = this.#json;
  }

  /** Reads the file; a file of no use changes nothing. Never throws. */
  load(): void {
    try {
      const json = this.#file.read(decodeDelayOffsets);
      if (json !== undefined) this.#json = { ...this.#json, ...json };
    } catch {
      // JsonFile has said so; delivery begins at the queues' min offsets.
    }
    this.#requested = this.#json;
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

  /** Where the master's log ended when it wrote the offsets; 0 when that is not known. */
  get deliveredUntil(): number {
    return deliveredUntilIn(this.#json) ?? 0;
  }

  /** What of the timer messages is done; undefined when the file does not tell. */
  get timers(): TimerProgress | undefined {
    return timersIn(this.#json);
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
    this.#requested = this.#json;
  }

  /** As a master: replaces the offsets; they hold once they are durable. Rejects with `FileError`. */
  write(
    offsets: ReadonlyMap<number, number>,
    deliveredUntil: number,
  ): Promise<void> {
    return this.#write({
      [DELIVERED_UNTIL]: deliveredUntil,
      [OFFSET_TABLE]: Object.fromEntries(offsets),
    });
  }

  /** As a master: what of the timer messages is done. As `write`. */
  writeTimers(timers: TimerProgress, deliveredUntil: number): Promise<void> {
    return this.#write({
      [DELIVERED_UNTIL]: deliveredUntil,
      [TIMERS]: timerProgressToJson(timers),
    });
  }

  /** Two writers: each keeps what the other has asked for before. */
  async #write(changes: JsonObject): Promise<void> {
    const version = dataVersionFromJson(this.#requested.dataVersion);
    const json: JsonObject = {
      ...this.#requested,
      dataVersion: dataVersionToJson(
        nextVersion(version, this.#clock.nowMs()),
      ),
      ...changes,
    };
    this.#requested = json;
    await this.#file.write(writePrettyFastjson(json));
    this.#json = json;
  }

  /**
   * As a slave: takes over a master's answer to 45 once it is durable. Rejects
   * with `BodyError` or `FileError`, and then nothing has changed.
   */
  async replaceAll(text: string): Promise<void> {
    const json = this.#mergedWith(text);
    const next = writePrettyFastjson(json);
    if (next === this.encode()) return;
    await this.#file.write(next);
    this.#json = json;
    this.#requested = json;
  }

  /** True when `replaceAll` would change nothing. Throws `BodyError`. */
  holds(text: string): boolean {
    return writePrettyFastjson(this.#mergedWith(text)) === this.encode();
  }

  /** The whole file's text. */
  encode(): string {
    return writePrettyFastjson(this.#json);
  }

  /** An Apache master does not say how long its log was: what another one said is not kept. */
  #mergedWith(text: string): JsonObject {
    const { [DELIVERED_UNTIL]: _, [TIMERS]: __, ...others } = this.#json;
    return { ...others, ...decodeDelayOffsets(text) };
  }
}

/** How long the log must be for the offsets of `text`, an answer to 45; undefined: not said. */
export function deliveredUntilOf(text: string): number | undefined {
  return deliveredUntilIn(decodeDelayOffsets(text));
}

function deliveredUntilIn(json: JsonObject): number | undefined {
  const until = json[DELIVERED_UNTIL];
  return until === undefined ? undefined : integerOf(until, DELIVERED_UNTIL);
}

/**
 * The text of an Apache master's answer to 45, which may be empty, with what its answer to 60 says
 * of timer messages. Throws `BodyError`.
 */
export function withTimers(text: string, timers: TimerProgress): string {
  const json = text === "" ? { [OFFSET_TABLE]: {} } : decodeDelayOffsets(text);
  return writePrettyFastjson({
    ...json,
    [TIMERS]: timerProgressToJson(timers),
  });
}

function timersIn(json: JsonObject): TimerProgress | undefined {
  const timers = json[TIMERS];
  return timers === undefined ? undefined : timerProgressFromJson(timers);
}

/** Throws `BodyError` when the text is no delayOffset.json. */
export function decodeDelayOffsets(text: string): JsonObject {
  const { json, table } = parseTableText(
    text,
    "delayOffset.json",
    OFFSET_TABLE,
  );
  for (const [level, offset] of Object.entries(table)) {
    integerOf(level, OFFSET_TABLE);
    integerOf(offset, level);
  }
  deliveredUntilIn(json);
  timersIn(json);
  const version = dataVersionFromJson(json.dataVersion);
  return json.dataVersion === undefined
    ? json
    : { ...json, dataVersion: dataVersionToJson(version) };
}
