/** ConsumerFilterData: the selector of one group for one topic, and its form in consumerFilter.json (reference 13.3). */
import type { BloomFilterData } from "../filter/bloom_filter.ts";
import type { CompiledSelector } from "../filter/compiled_selector.ts";
import {
  intField,
  type JsonObject,
  textField,
} from "../protocol/body/json_fields.ts";

/** One entry; times are those of the wall clock in milliseconds. */
export interface ConsumerFilterData {
  readonly consumerGroup: string;
  readonly topic: string;
  readonly expression: string;
  readonly expressionType: string;
  readonly bornTime: number;
  /** When its last member left or ceased to subscribe; 0 while it lives. */
  readonly deadTime: number;
  readonly bloomFilterData: BloomFilterData;
  /** subVersion of the newest subscription. */
  readonly clientVersion: number;
  readonly selector: CompiledSelector;
}

/** What is read of an entry in the file; the rest follows from it. */
export type StoredFilterData = Omit<
  ConsumerFilterData,
  "selector" | "bloomFilterData"
>;

/** True from the time on at which nobody uses it. */
export function isDead({ bornTime, deadTime }: ConsumerFilterData): boolean {
  return deadTime >= bornTime;
}

/** The object, keys as Java sorts them. */
export function consumerFilterDataToJson(data: ConsumerFilterData): JsonObject {
  return {
    bloomFilterData: data.bloomFilterData,
    bornTime: data.bornTime,
    clientVersion: data.clientVersion,
    consumerGroup: data.consumerGroup,
    dead: isDead(data),
    deadTime: data.deadTime,
    expression: data.expression,
    expressionType: data.expressionType,
    topic: data.topic,
  };
}

/** Reads the object; throws `BodyError`. */
export function consumerFilterDataFromJson(json: JsonObject): StoredFilterData {
  return {
    consumerGroup: textField(json, "consumerGroup", ""),
    topic: textField(json, "topic", ""),
    expression: textField(json, "expression", ""),
    expressionType: textField(json, "expressionType", ""),
    bornTime: intField(json, "bornTime", 0),
    deadTime: intField(json, "deadTime", 0),
    clientVersion: intField(json, "clientVersion", 0),
  };
}
