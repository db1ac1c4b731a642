/**
 * MessageRequestModeFile: `config/messageRequestMode.json`, which topics a
 * group of 5.x consumes by POP. Nothing here reads it; a slave keeps what its
 * Apache master has and answers it (402), so that it is not lost on the way
 * through this broker: an Apache slave takes over our answer.
 */
import { objectOf } from "../protocol/body/json_fields.ts";
import { parseFastjson } from "../protocol/fastjson.ts";
import type { MetadataFile } from "./config_manager.ts";

const KEY = "messageRequestModeMap";

/** The file's text as it came. */
export class MessageRequestModeFile {
  readonly #file: MetadataFile;
  #text = `{"${KEY}":{}}`;

  constructor(file: MetadataFile) {
    this.#file = file;
  }

  /** Reads the file; a file of no use changes nothing. Never throws. */
  load(): void {
    try {
      this.#text = this.#file.read(checkedRequestModes) ?? this.#text;
    } catch {
      // JsonFile has said so.
    }
  }

  /** The whole file's text, and the answer to 402. */
  encode(): string {
    return this.#text;
  }

  /**
   * As a slave: takes over a master's answer to 402 once it is durable.
   * Rejects with `BodyError` or `FileError`, and then nothing has changed.
   */
  async replaceAll(text: string): Promise<void> {
    if (checkedRequestModes(text) === this.#text) return;
    await this.#file.write(text);
    this.#text = text;
  }
}

/** Throws when the text holds no such table. */
export function checkedRequestModes(text: string): string {
  objectOf(objectOf(parseFastjson(text), KEY)[KEY] ?? "missing", KEY);
  return text;
}
