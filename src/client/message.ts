/** Message: what a producer sends, and how it becomes the properties of a request. */
import type { MessageQueue } from "../model/message_queue.ts";
import { encodeProperties, MessageConst } from "../model/message_properties.ts";

/** One message of an application. */
export interface Message {
  readonly topic: string;
  readonly body: Uint8Array;
  readonly tags?: string;
  /** For queries by key; none is empty or holds a space. */
  readonly keys?: readonly string[];
  /** The application's own; names may not hold control characters. */
  readonly properties?: Readonly<Record<string, string>>;
  /** 1 to 18; 0 or absent: at once. */
  readonly delayLevel?: number;
  readonly flag?: number;
  /** False: the broker does not wait for disk or slaves. */
  readonly waitStoreMsgOK?: boolean;
  /** Where to; absent: the next of the topic. */
  readonly queue?: MessageQueue;
}

/** A property that the wire cannot carry. */
export class MessagePropertyError extends Error {
  override readonly name = "MessagePropertyError";
}

/** Separators of names and values in the encoded form (reference 3.4). */
// deno-lint-ignore no-control-regex -- these are the separators
const SEPARATORS = /[\u0001\u0002]/;

/** The encoded properties of `message`; throws `MessagePropertyError`. */
export function propertiesTextOf(message: Message, uniqueKey: string): string {
  const entries: [string, string][] = [];
  for (const [name, value] of Object.entries(message.properties ?? {})) {
    if (name === "" || SEPARATORS.test(name) || SEPARATORS.test(value)) {
      throw new MessagePropertyError(
        `Cannot send the property ${
          JSON.stringify(name)
        }: the name is empty, ` +
          "or it holds a separator (\\u0001, \\u0002)",
      );
    }
    entries.push([name, value]);
  }
  if (message.keys !== undefined && message.keys.length > 0) {
    entries.push([MessageConst.KEYS, keysText(message.keys)]);
  }
  if (message.tags !== undefined && message.tags !== "") {
    entries.push([MessageConst.TAGS, textOf(message.tags, "tags")]);
  }
  if (message.delayLevel !== undefined && message.delayLevel > 0) {
    entries.push([MessageConst.DELAY, String(message.delayLevel)]);
  }
  entries.push([MessageConst.UNIQ_KEY, uniqueKey]);
  entries.push([MessageConst.WAIT, String(message.waitStoreMsgOK ?? true)]);
  return encodeProperties(entries);
}

/** Keys are separated by spaces, so one with a space would become two. */
function keysText(keys: readonly string[]): string {
  const wrong = keys.find((it) => it === "" || /\s/.test(it));
  if (wrong === undefined) return textOf(keys.join(" "), "keys");
  throw new MessagePropertyError(
    `Cannot send the key ${JSON.stringify(wrong)}: ` +
      "a key is not empty and holds no space; give several keys one by one",
  );
}

function textOf(text: string, what: string): string {
  if (!SEPARATORS.test(text)) return text;
  throw new MessagePropertyError(
    `Cannot send ${what} that hold a separator (\\u0001, \\u0002)`,
  );
}
