/** Hashes of index keys: `topic#key` as Java hashes it, without building the string. */
import { findProperty, MessageConst } from "../model/message_properties.ts";
import { MessageSysFlag } from "../model/message_sys_flag.ts";
import type { DispatchRequest } from "./dispatch_request.ts";

const NUMBER_SIGN = 35;
const SPACE = 32;

let lastTopic: string | undefined;
let lastTopicHash = 0;

/** Java's hash of `topic#`; consecutive records are often of one topic. */
function topicHash(topic: string): number {
  if (topic !== lastTopic) {
    let hash = 0;
    for (let index = 0; index < topic.length; index++) {
      hash = (Math.imul(31, hash) + topic.charCodeAt(index)) | 0;
    }
    lastTopic = topic;
    lastTopicHash = (Math.imul(31, hash) + NUMBER_SIGN) | 0;
  }
  return lastTopicHash;
}

/** Java's Math.abs, with its one negative result as 0. */
function positive(hash: number): number {
  return hash === -0x8000_0000 ? 0 : Math.abs(hash);
}

/** The hash under which `key` of `topic` is filed. */
export function indexKeyHash(topic: string, key: string): number {
  let hash = topicHash(topic);
  for (let index = 0; index < key.length; index++) {
    hash = (Math.imul(31, hash) + key.charCodeAt(index)) | 0;
  }
  return positive(hash);
}

/**
 * Fills `target` with the hashes of a record's keys, UNIQ_KEY first, then the words of KEYS;
 * returns how many. Rollback records have none. A word equal to the UNIQ_KEY is filed once.
 */
export function indexKeyHashes(
  request: DispatchRequest,
  target: number[],
): number {
  const kind = request.sysFlag & MessageSysFlag.TRANSACTION_MASK;
  if (kind === MessageSysFlag.TRANSACTION_ROLLBACK_TYPE) return 0;
  const { topic, propertiesText } = request;
  let count = 0;
  const uniqKey = findProperty(propertiesText, MessageConst.UNIQ_KEY);
  if (uniqKey !== undefined) target[count++] = indexKeyHash(topic, uniqKey);
  const keys = findProperty(propertiesText, MessageConst.KEYS);
  if (keys === undefined || keys === uniqKey) return count;
  let hash = topicHash(topic);
  let size = 0;
  for (let index = 0; index <= keys.length; index++) {
    const unit = index === keys.length ? SPACE : keys.charCodeAt(index);
    if (unit !== SPACE) {
      hash = (Math.imul(31, hash) + unit) | 0;
      size += 1;
      continue;
    }
    if (size > 0) target[count++] = positive(hash);
    hash = topicHash(topic);
    size = 0;
  }
  return count;
}
