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
  SHARDING_KEY: "__SHARDINGKEY",
  REPLY_TO_CLIENT: "REPLY_TO_CLIENT",
  CORRELATION_ID: "CORRELATION_ID",
  TTL: "TTL",
  MSG_TYPE: "MSG_TYPE",
  DLQ_ORIGIN_TOPIC: "DLQ_ORIGIN_TOPIC",
  DLQ_ORIGIN_MESSAGE_ID: "DLQ_ORIGIN_MESSAGE_ID",
} as const;

const NAME_VALUE_SEPARATOR = "\u0001";
const PROPERTY_SEPARATOR = "\u0002";

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

/** The value of `name`, found without decoding the others; the last one wins. */
export function findProperty(text: string, name: string): string | undefined {
  const needle = name + NAME_VALUE_SEPARATOR;
  let at = text.lastIndexOf(needle);
  while (at > 0 && text[at - 1] !== PROPERTY_SEPARATOR) {
    at = text.lastIndexOf(needle, at - 1);
  }
  if (at < 0) return undefined;
  const start = at + needle.length;
  let end = text.indexOf(PROPERTY_SEPARATOR, start);
  if (end < 0) end = text.length;
  return end > start ? text.slice(start, end) : undefined;
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
