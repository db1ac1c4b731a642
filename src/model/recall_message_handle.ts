/**
 * RecallMessageHandle: names a timer message that may be taken back, as the answer of its send
 * carries it; base64url of `v1 topic brokerName timestamp uniqKey` (5.x).
 */

/** What a handle says. */
export interface RecallMessageHandle {
  readonly topic: string;
  readonly brokerName: string;
  /** Due time, wall clock; -1 when it is no number. */
  readonly timestampMs: number;
  /** UNIQ_KEY of the message. */
  readonly uniqKey: string;
}

const VERSION = "v1";
const PARTS_MIN = 5;

/** The handle's text. */
export function encodeRecallHandle(handle: RecallMessageHandle): string {
  const { brokerName, timestampMs, topic, uniqKey } = handle;
  const text = [VERSION, topic, brokerName, timestampMs, uniqKey].join(" ");
  const bytes = new TextEncoder().encode(text);
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll("+", "-").replaceAll("/", "_");
}

/** Reads it; undefined for what is none. */
export function decodeRecallHandle(
  text: string,
): RecallMessageHandle | undefined {
  if (!/^[\w-]+={0,2}$/.test(text)) return undefined;
  let parts: string[];
  try {
    const base64 = text.replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(base64), (it) => it.charCodeAt(0));
    parts = new TextDecoder().decode(bytes).split(" ");
  } catch {
    return undefined;
  }
  if (parts[0] !== VERSION || parts.length < PARTS_MIN) return undefined;
  const [, topic, brokerName, timestamp, uniqKey] = parts;
  const timestampMs = /^\d{1,15}$/.test(timestamp!) ? Number(timestamp) : -1;
  return {
    topic: topic!,
    brokerName: brokerName!,
    timestampMs,
    uniqKey: uniqKey!,
  };
}
