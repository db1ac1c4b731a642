/** The messages of the store tests: all but their places follows from their numbers. */
import { MessageConst } from "../../src/model/message_properties.ts";

/** One queue that fills several files, a few queues, and many that hold next to nothing. */
export const TOPICS = [
  { topic: "Single", queueNums: 1 },
  { topic: "Spread", queueNums: 4 },
  { topic: "Rare", queueNums: 16 },
] as const;
export const DEALS = "Deals";
export const GROUP = "store-readers";
export const OTHER_GROUP = "other-readers";
/** A property that is neither ASCII nor indexed. */
export const SIZE_PROPERTY = "größe";
export const DELAY_QUEUE = { topic: "SCHEDULE_TOPIC_XXXX", queueId: 17 };

/** A message by its number. */
export interface NumberedMessage {
  number: number;
  topic: string;
  queueId: number;
  body: string;
  uniqKey: string;
  /** Words; empty for every fifth. */
  keys: string[];
  tag: string;
}

/** Where a broker says that it has put it. */
export interface StoredMessage extends NumberedMessage {
  queueOffset: number;
  /** Offset message id, with the address of the broker that wrote it. */
  msgId: string;
  phyOffset: number;
}

/** Everything about a message but its place follows from its number. */
export function numbered(number: number): NumberedMessage {
  const { topic, queueNums } = TOPICS[number % 20 === 0 ? 2 : number % 2]!;
  const size = number % 200 === 199 ? 40_000 : 100 + (number * 7919) % 900;
  // As a client builds it: with a process id, so that it is not taken for an offset id.
  const uniqKey = "7F0000011234" + "18B4AAC2" +
    number.toString(16).toUpperCase().padStart(8, "0") + "0000";
  return {
    number,
    topic,
    queueId: Math.floor(number / 20) % queueNums,
    body: `message ${number} `.padEnd(size, `${number};`),
    uniqKey,
    keys: number % 5 === 1 ? [] : [`key${number}`, `shared${number % 7}`],
    tag: `Tag${number % 3}`,
  };
}

/** Its properties as a client sends them. */
export function propertiesOf(message: NumberedMessage): Map<string, string> {
  const properties = new Map<string, string>([
    [MessageConst.UNIQ_KEY, message.uniqKey],
    [MessageConst.TAGS, message.tag],
    [SIZE_PROPERTY, String(message.body.length)],
  ]);
  const { keys } = message;
  if (keys.length > 0) properties.set(MessageConst.KEYS, keys.join(" "));
  return properties;
}
