/**
 * MessageRequestModeFile: `config/messageRequestMode.json`, which topics a group of 5.x consumes by
 * POP. A master changes it (401) and assigns queues by it (400); a slave takes its master's (402).
 *
 * Invariants
 * - An entry is in force once it is durable.
 * - Writes go one after the other.
 */
import { objectOf } from "../protocol/body/json_fields.ts";
import {
  messageRequestModeFromJson,
  messageRequestModeToJson,
  type SetMessageRequestModeBody,
} from "../protocol/body/message_request_mode_body.ts";
import { parseFastjson, writeFastjson } from "../protocol/fastjson.ts";
import type { MetadataFile } from "./config_manager.ts";

const KEY = "messageRequestModeMap";

/** By topic, then by group. */
type Modes = ReadonlyMap<
  string,
  ReadonlyMap<string, SetMessageRequestModeBody>
>;

/** The table and its file. */
export class MessageRequestModeFile {
  readonly #file: MetadataFile;
  #text = `{"${KEY}":{}}`;
  #modes: Modes = new Map();
  #writing: Promise<void> = Promise.resolve();

  constructor(file: MetadataFile) {
    this.#file = file;
  }

  /** Reads the file; a file of no use changes nothing. Never throws. */
  load(): void {
    try {
      const text = this.#file.read(checkedRequestModes);
      if (text !== undefined) this.#take(text);
    } catch {
      // JsonFile has said so.
    }
  }

  /** The whole file's text, and the answer to 402. */
  encode(): string {
    return this.#text;
  }

  /** What was set for that group and topic. */
  get(topic: string, group: string): SetMessageRequestModeBody | undefined {
    return this.#modes.get(topic)?.get(group);
  }

  /** Resolves when it is durable, and then in force. Rejects with `FileError`. */
  async set(entry: SetMessageRequestModeBody): Promise<void> {
    await this.#write(() => {
      const groups = new Map(this.#modes.get(entry.topic));
      groups.set(entry.consumerGroup, entry);
      return textOf(new Map(this.#modes).set(entry.topic, groups));
    });
  }

  /**
   * As a slave: takes over a master's answer to 402 once it is durable.
   * Rejects with `BodyError` or `FileError`, and then nothing has changed.
   */
  async replaceAll(text: string): Promise<void> {
    if (checkedRequestModes(text) === this.#text) return;
    await this.#write(() => text);
  }

  async #write(next: () => string): Promise<void> {
    const write = this.#writing.then(async () => {
      const text = next();
      await this.#file.write(text);
      this.#take(text);
    });
    this.#writing = write.catch(() => {
      // Told to the caller.
    });
    await write;
  }

  #take(text: string): void {
    this.#modes = modesOf(text);
    this.#text = text;
  }
}

/** Throws `BodyError` when the text holds no such table. */
export function checkedRequestModes(text: string): string {
  modesOf(text);
  return text;
}

function modesOf(text: string): Modes {
  const table = objectOf(
    objectOf(parseFastjson(text), KEY)[KEY] ?? "missing",
    KEY,
  );
  const modes = new Map<string, Map<string, SetMessageRequestModeBody>>();
  for (const [topic, groups] of Object.entries(table)) {
    const ofTopic = new Map<string, SetMessageRequestModeBody>();
    for (const [group, entry] of Object.entries(objectOf(groups, topic))) {
      ofTopic.set(group, messageRequestModeFromJson(entry));
    }
    modes.set(topic, ofTopic);
  }
  return modes;
}

function textOf(modes: Modes): string {
  const table = new Map(
    [...modes].map(([topic, groups]) => [
      topic,
      new Map(
        [...groups].map((
          [group, entry],
        ) => [group, messageRequestModeToJson(entry)]),
      ),
    ]),
  );
  return writeFastjson({ [KEY]: table });
}
