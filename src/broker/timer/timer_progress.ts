/** TimerProgress: what of rmq_sys_wheel_timer is done; key `timers` of delayOffset.json. */
import {
  arrayOf,
  integerOf,
  type JsonObject,
  objectOf,
} from "../../protocol/body/json_fields.ts";
import { FIRST_KEY, type TimerKey } from "./timer_index.ts";

/**
 * A message is done when its queue offset is below `minQueueOffset`, or when it is below
 * `queueOffset`, its key is not behind `doneUntil`, and it is none of `late`.
 */
export interface TimerProgress {
  readonly doneUntil: TimerKey;
  readonly queueOffset: number;
  readonly minQueueOffset: number;
  /** Queue offsets of those that came when later ones were done; ascending. */
  readonly late: readonly number[];
  /** An Apache broker's: what it put again is still there as well. */
  readonly isApaches?: boolean;
}

/** Of a queue of which nothing is known. */
export const NO_PROGRESS: TimerProgress = Object.freeze({
  doneUntil: FIRST_KEY,
  queueOffset: 0,
  minQueueOffset: 0,
  late: [],
});

/** True when both say the same. */
export function isSameProgress(a: TimerProgress, b: TimerProgress): boolean {
  return a.queueOffset === b.queueOffset &&
    a.minQueueOffset === b.minQueueOffset &&
    a.isApaches === b.isApaches &&
    a.late.length === b.late.length &&
    a.late.every((it, index) => it === b.late[index]) &&
    a.doneUntil.atMs === b.doneUntil.atMs &&
    a.doneUntil.queueOffset === b.doneUntil.queueOffset;
}

/** As JSON. */
export function timerProgressToJson(progress: TimerProgress): JsonObject {
  const { doneUntil, isApaches, late, minQueueOffset, queueOffset } = progress;
  return {
    doneUntilMs: doneUntil.atMs,
    doneUntilQueueOffset: doneUntil.queueOffset,
    queueOffset,
    minQueueOffset,
    late,
    ...(isApaches ? { isApaches } : {}),
  };
}

/** Reads that. Throws `BodyError`. */
export function timerProgressFromJson(value: unknown): TimerProgress {
  const json = objectOf(value, "timers");
  const field = (name: string) => integerOf(json[name], name);
  return {
    doneUntil: {
      atMs: field("doneUntilMs"),
      queueOffset: field("doneUntilQueueOffset"),
    },
    queueOffset: field("queueOffset"),
    minQueueOffset: field("minQueueOffset"),
    late: arrayOf(json.late ?? [], "late").map((it) => integerOf(it, "late")),
    ...(json.isApaches === true ? { isApaches: true } : {}),
  };
}
