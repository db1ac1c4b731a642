/**
 * Properties of a message: `name \u0001 value \u0002`, repeated (reference 3.4).
 *
 * The final separator is written, as Java does from 5.2 on; readers accept its
 * absence. The hot path never builds a map: it looks one name up in the text.
 */

/** MessageConst: names of well-known properties (reference 3.5). */
export const MessageConst = {
  KEYS: "KEYS",
  TAGS: "TAGS",
  WAIT: "WAIT",
  DELAY: "DELAY",
  UNIQ_KEY: "UNIQ_KEY",
  RETRY_TOPIC: "RETRY_TOPIC",
  REAL_TOPIC: "REAL_TOPIC",
  REAL_QID: "REAL_QID",
  TRAN_MSG: "TRAN_MSG",
  PGROUP: "PGROUP",
  RECONSUME_TIME: "RECONSUME_TIME",
  MAX_RECONSUME_TIMES: "MAX_RECONSUME_TIMES",
  ORIGIN_MESSAGE_ID: "ORIGIN_MESSAGE_ID",
  MIN_OFFSET: "MIN_OFFSET",
  MAX_OFFSET: "MAX_OFFSET",
  MSG_REGION: "MSG_REGION",
  TRACE_ON: "TRACE_ON",
  CLUSTER: "CLUSTER",
  TRANSACTION_ID: "__transactionId__",
  TRANSACTION_CHECK_TIMES: "TRANSACTION_CHECK_TIMES",
  CHECK_IMMUNITY_TIME_IN_SECONDS: "CHECK_IMMUNITY_TIME_IN_SECONDS",
  TRAN_PREPARED_QUEUE_OFFSET: "TRAN_PREPARED_QUEUE_OFFSET",
  INNER_NUM: "INNER_NUM",
  INNER_BASE: "INNER_BASE",
  TIMER_DELIVER_MS: "TIMER_DELIVER_MS",
  TIMER_DELAY_SEC: "TIMER_DELAY_SEC",
  TIMER_DELAY_MS: "TIMER_DELAY_MS",
  TIMER_OUT_MS: "TIMER_OUT_MS",
  TIMER_ENQUEUE_MS: "TIMER_ENQUEUE_MS",
  TIMER_DEQUEUE_MS: "TIMER_DEQUEUE_MS",
  TIMER_ROLL_TIMES: "TIMER_ROLL_TIMES",
  TIMER_DEL_UNIQKEY: "TIMER_DEL_UNIQKEY",
  SHARDING_KEY: "__SHARDINGKEY",
  REPLY_TO_CLIENT: "REPLY_TO_CLIENT",
  CORRELATION_ID: "CORRELATION_ID",
  TTL: "TTL",
  PUSH_REPLY_TIME: "PUSH_REPLY_TIME",
  MSG_TYPE: "MSG_TYPE",
  DLQ_ORIGIN_TOPIC: "DLQ_ORIGIN_TOPIC",
  DLQ_ORIGIN_MESSAGE_ID: "DLQ_ORIGIN_MESSAGE_ID",
} as const;

const NAME_VALUE_SEPARATOR = "\u0001";
const PROPERTY_SEPARATOR = "\u0002";
const PROPERTY_SEPARATOR_UNIT = 2;

/** Largest encoded size in bytes: the record carries it as an int16. */
export const PROPERTIES_SIZE_MAX = 32_767;

/** The pairs of `text`; pairs without name, value or separator are ignored. */
export function decodeProperties(text: string): Map<string, string> {
  const properties = new Map<string, string>();
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf(PROPERTY_SEPARATOR, start);
    if (end < 0) end = text.length;
    const middle = text.indexOf(NAME_VALUE_SEPARATOR, start);
    if (middle > start && middle + 1 < end) {
      properties.set(text.slice(start, middle), text.slice(middle + 1, end));
    }
    start = end + 1;
  }
  return properties;
}

/** False for a text that would end its property and begin another. */
export function isPropertyText(text: string): boolean {
  return !text.includes(NAME_VALUE_SEPARATOR) &&
    !text.includes(PROPERTY_SEPARATOR);
}

/** The encoded form of `entries`, in their order, with the final separator. */
export function encodeProperties(
  entries: Iterable<readonly [string, string]>,
): string {
  let text = "";
  for (const [name, value] of entries) {
    text += name + NAME_VALUE_SEPARATOR + value + PROPERTY_SEPARATOR;
  }
  return text;
}

/** `name \u0001` of names looked up before; bounded, since filters may name anything. */
const needles = new Map<string, string>();
const NEEDLES_MAX = 256;

function needleOf(name: string): string {
  let needle = needles.get(name);
  if (needle === undefined) {
    needle = name + NAME_VALUE_SEPARATOR;
    if (needles.size < NEEDLES_MAX) needles.set(name, needle);
  }
  return needle;
}

/** The value of `name`, found without decoding the others; the last one wins. */
export function findProperty(text: string, name: string): string | undefined {
  const needle = needleOf(name);
  let value: string | undefined;
  for (
    let at = text.indexOf(needle);
    at >= 0;
    at = text.indexOf(needle, at + 1)
  ) {
    if (at > 0 && text.charCodeAt(at - 1) !== PROPERTY_SEPARATOR_UNIT) continue;
    const start = at + needle.length;
    let end = text.indexOf(PROPERTY_SEPARATOR, start);
    if (end < 0) end = text.length;
    if (end > start) value = text.slice(start, end);
  }
  return value;
}

/** `text` with one more pair at its end; a missing final separator is added. */
export function appendProperty(
  text: string,
  name: string,
  value: string,
): string {
  const pair = name + NAME_VALUE_SEPARATOR + value + PROPERTY_SEPARATOR;
  return text === "" || text.endsWith(PROPERTY_SEPARATOR)
    ? text + pair
    : text + PROPERTY_SEPARATOR + pair;
}
