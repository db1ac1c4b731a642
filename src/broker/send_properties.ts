/**
 * SendProperties: one pass over the properties text of a send.
 *
 * The hot path needs eight names of perhaps a dozen. One pass finds them and
 * where to cut; no map is built and the text is sliced only where it changes.
 */
import { javaHashCode } from "../base/java_hash.ts";
import { MessageConst } from "../model/message_properties.ts";
import type { MessageType } from "./topic_put_stats.ts";

const NAME_VALUE_SEPARATOR = "\u0001";
const PROPERTY_SEPARATOR = "\u0002";

/** What a send's properties ask of the broker; reused from message to message. */
export class SendProperties {
  /** javaHashCode of TAGS, 0 without. */
  tagsCode = 0;
  uniqKey = "";
  /** False with WAIT=false. */
  waitStoreMsgOk = true;
  /** The text of DELAY; empty without. */
  delay = "";
  /** The name of the first TIMER_* property; empty without. */
  timer = "";
  isTransactional = false;
  /** __SHARDINGKEY is there. */
  isSharded = false;
  #text = "";
  /** Pairs of positions: what `textWithout…` leaves out. */
  readonly #cuts: number[] = [];
  readonly #delayCuts: number[] = [];

  /** Reads `text`, the field `i` of a send. */
  scan(text: string): void {
    this.tagsCode = 0;
    this.uniqKey = "";
    this.waitStoreMsgOk = true;
    this.delay = "";
    this.timer = "";
    this.isTransactional = false;
    this.isSharded = false;
    this.#text = text;
    this.#cuts.length = 0;
    this.#delayCuts.length = 0;
    const length = text.length;
    let start = 0;
    while (start < length) {
      let end = text.indexOf(PROPERTY_SEPARATOR, start);
      if (end < 0) end = length;
      const middle = text.indexOf(NAME_VALUE_SEPARATOR, start);
      if (middle < 0) break;
      if (middle > start && middle + 1 < end) this.#pair(start, middle, end);
      start = end + 1;
    }
  }

  /** What the message is for, as RocketMQ's metrics tell it. */
  get messageType(): MessageType {
    if (this.isTransactional) return "transaction";
    if (this.isSharded) return "fifo";
    return this.delay === "" && this.timer === "" ? "normal" : "delay";
  }

  /**
   * The text to store, with a separator at its end: without WAIT, which nobody
   * reads later, and without CLUSTER, MSG_REGION and TRACE_ON, which the broker sets.
   */
  storedText(): string {
    return stored(this.#text, this.#cuts);
  }

  /** As `storedText`, also without DELAY: a message on its way to the dead letters waits no more. */
  storedTextWithoutDelay(): string {
    const cuts = [...this.#cuts, ...this.#delayCuts];
    const ranges: [number, number][] = [];
    for (let at = 0; at < cuts.length; at += 2) {
      ranges.push([cuts[at]!, cuts[at + 1]!]);
    }
    ranges.sort((a, b) => a[0] - b[0]);
    return stored(this.#text, ranges.flat());
  }

  #pair(start: number, middle: number, end: number): void {
    const text = this.#text;
    switch (middle - start) {
      case 4:
        if (text.startsWith(MessageConst.TAGS, start)) {
          this.tagsCode = javaHashCode(text.slice(middle + 1, end));
        } else if (text.startsWith(MessageConst.WAIT, start)) {
          this.waitStoreMsgOk = isTrue(text, middle + 1, end);
          this.#cuts.push(start, end + 1);
        }
        break;
      case 5:
        if (text.startsWith(MessageConst.DELAY, start)) {
          this.delay = text.slice(middle + 1, end);
          this.#delayCuts.push(start, end + 1);
        }
        break;
      case 7:
        if (text.startsWith(MessageConst.CLUSTER, start)) {
          this.#cuts.push(start, end + 1);
        }
        break;
      case 8:
        if (text.startsWith(MessageConst.UNIQ_KEY, start)) {
          this.uniqKey = text.slice(middle + 1, end);
        } else if (text.startsWith(MessageConst.TRAN_MSG, start)) {
          this.isTransactional = isTrue(text, middle + 1, end);
        } else if (text.startsWith(MessageConst.TRACE_ON, start)) {
          this.#cuts.push(start, end + 1);
        }
        break;
      case 10:
        if (text.startsWith(MessageConst.MSG_REGION, start)) {
          this.#cuts.push(start, end + 1);
        }
        break;
      case 13:
        if (text.startsWith(MessageConst.SHARDING_KEY, start)) {
          this.isSharded = true;
        }
        break;
      case 14:
      case 15:
      case 16:
        this.#timerPair(text.slice(start, middle));
        break;
      default:
    }
  }

  #timerPair(name: string): void {
    if (
      name === MessageConst.TIMER_DELAY_MS ||
      name === MessageConst.TIMER_DELAY_SEC ||
      name === MessageConst.TIMER_DELIVER_MS
    ) {
      this.timer = name;
    }
  }
}

/** As Java's Boolean.parseBoolean. */
function isTrue(text: string, start: number, end: number): boolean {
  return end - start === 4 &&
    (text.startsWith("true", start) ||
      text.slice(start, end).toLowerCase() === "true");
}

/** `text` without the given ranges, which ascend, and with a separator at its end. */
function stored(text: string, cuts: readonly number[]): string {
  const { length } = text;
  let kept = text;
  let isTerminated = length === 0 || text.charCodeAt(length - 1) === 2;
  if (cuts.length > 0) {
    kept = "";
    let from = 0;
    for (let at = 0; at < cuts.length; at += 2) {
      kept += text.slice(from, cuts[at]!);
      from = cuts[at + 1]!;
    }
    kept += text.slice(from);
    // A pair in front of a cut keeps its own separator.
    isTerminated ||= from >= length;
  }
  return isTerminated ? kept : kept + PROPERTY_SEPARATOR;
}
