/** HeartbeatData as JSON, the body of code 34 (reference 11.1). */
import { shown } from "../../base/shown.ts";
import type {
  ConsumeFromWhere,
  ConsumerData,
  ConsumeType,
  HeartbeatData,
  MessageModel,
} from "../../model/heartbeat_data.ts";
import {
  arrayField,
  BodyError,
  booleanField,
  decodeJson,
  encodeJson,
  intField,
  type JsonObject,
  objectOf,
  textField,
} from "./json_fields.ts";
import {
  subscriptionDataFromJson,
  subscriptionDataToJson,
} from "./subscription_data_body.ts";

/** In the order of Java's enums: C++ clients send the ordinal. */
const CONSUME_TYPES: readonly ConsumeType[] = [
  "CONSUME_ACTIVELY",
  "CONSUME_PASSIVELY",
  "CONSUME_POP",
];
const MESSAGE_MODELS: readonly MessageModel[] = ["BROADCASTING", "CLUSTERING"];
const CONSUME_FROM_WHERES: readonly ConsumeFromWhere[] = [
  "CONSUME_FROM_LAST_OFFSET",
  "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
  "CONSUME_FROM_MIN_OFFSET",
  "CONSUME_FROM_MAX_OFFSET",
  "CONSUME_FROM_FIRST_OFFSET",
  "CONSUME_FROM_TIMESTAMP",
];

/** The body. */
export function encodeHeartbeatData(data: HeartbeatData): Uint8Array {
  return encodeJson({
    clientID: data.clientID,
    consumerDataSet: data.consumerDataSet.map(consumerDataToJson),
    heartbeatFingerprint: data.heartbeatFingerprint,
    producerDataSet: data.producerDataSet.map((it) => ({
      groupName: it.groupName,
    })),
    withoutSub: data.withoutSub,
  });
}

/** Reads the body; throws `BodyError`. */
export function decodeHeartbeatData(bytes: Uint8Array): HeartbeatData {
  const object = objectOf(decodeJson(bytes, "HeartbeatData"), "HeartbeatData");
  return {
    clientID: textField(object, "clientID", ""),
    producerDataSet: arrayField(object, "producerDataSet").map((it) => ({
      groupName: textField(objectOf(it, "ProducerData"), "groupName", ""),
    })),
    consumerDataSet: arrayField(object, "consumerDataSet").map(
      consumerDataFromJson,
    ),
    heartbeatFingerprint: intField(object, "heartbeatFingerprint", 0),
    withoutSub: booleanField(object, "withoutSub", false),
  };
}

function consumerDataToJson(data: ConsumerData): JsonObject {
  return {
    consumeFromWhere: data.consumeFromWhere,
    consumeType: data.consumeType,
    groupName: data.groupName,
    messageModel: data.messageModel,
    subscriptionDataSet: data.subscriptionDataSet.map(subscriptionDataToJson),
    unitMode: data.unitMode,
  };
}

function consumerDataFromJson(value: unknown): ConsumerData {
  const object = objectOf(value, "ConsumerData");
  return {
    groupName: textField(object, "groupName", ""),
    consumeType: enumField(object, "consumeType", CONSUME_TYPES),
    messageModel: enumField(object, "messageModel", MESSAGE_MODELS),
    consumeFromWhere: enumField(
      object,
      "consumeFromWhere",
      CONSUME_FROM_WHERES,
    ),
    subscriptionDataSet: arrayField(object, "subscriptionDataSet").map(
      subscriptionDataFromJson,
    ),
    unitMode: booleanField(object, "unitMode", false),
  };
}

function enumField<T extends string>(
  object: JsonObject,
  name: string,
  values: readonly T[],
): T {
  const value = object[name];
  const found = typeof value === "number"
    ? values[value]
    : values.find((it) => it === value);
  if (found !== undefined) return found;
  throw new BodyError(
    `Cannot read ${name}: it is ${
      shown(JSON.stringify(value) ?? "missing", 64)
    }`,
  );
}
