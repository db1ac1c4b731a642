/** Bodies that list connected clients: codes 203, 204 and 328 (reference 2.7). */
import type {
  ConsumeFromWhere,
  ConsumeType,
  MessageModel,
} from "../../model/heartbeat_data.ts";
import type { SubscriptionData } from "../../model/subscription_data.ts";
import {
  arrayField,
  decodeJson,
  encodeJson,
  intField,
  type JsonObject,
  jsonOfMap,
  mapField,
  objectOf,
  textField,
} from "./json_fields.ts";
import {
  subscriptionDataFromJson,
  subscriptionDataToJson,
} from "./subscription_data_body.ts";

/** One client instance on its connection. */
export interface ClientConnection {
  readonly clientId: string;
  readonly clientAddr: string;
  /** LanguageCode name. */
  readonly language: string;
  /** Version ordinal. */
  readonly version: number;
}

/** The body of GET_CONSUMER_CONNECTION_LIST (203). */
export interface ConsumerConnection {
  readonly connectionSet: readonly ClientConnection[];
  readonly consumeType: ConsumeType;
  readonly messageModel: MessageModel;
  readonly consumeFromWhere: ConsumeFromWhere;
  readonly subscriptionTable: ReadonlyMap<string, SubscriptionData>;
}

/** One client of the body of GET_ALL_PRODUCER_INFO (328). */
export interface ProducerInfo {
  readonly clientId: string;
  readonly remoteIP: string;
  readonly language: string;
  readonly version: number;
  readonly lastUpdateTimestamp: number;
}

/** The body of 203. */
export function encodeConsumerConnection(it: ConsumerConnection): Uint8Array {
  return encodeJson({
    connectionSet: it.connectionSet.map(connectionToJson),
    consumeFromWhere: it.consumeFromWhere,
    consumeType: it.consumeType,
    messageModel: it.messageModel,
    subscriptionTable: jsonOfMap(it.subscriptionTable, subscriptionDataToJson),
  });
}

/** Reads the body of 203; throws `BodyError`. */
export function decodeConsumerConnection(
  bytes: Uint8Array,
): ConsumerConnection {
  const name = "ConsumerConnection";
  const object = objectOf(decodeJson(bytes, name), name);
  return {
    connectionSet: arrayField(object, "connectionSet").map(connectionFromJson),
    // Told as the broker says it: a newer one may know more.
    consumeType: textField(object, "consumeType", "") as ConsumeType,
    messageModel: textField(object, "messageModel", "") as MessageModel,
    consumeFromWhere: textField(
      object,
      "consumeFromWhere",
      "",
    ) as ConsumeFromWhere,
    subscriptionTable: mapField(
      object,
      "subscriptionTable",
      subscriptionDataFromJson,
    ),
  };
}

/** The body of GET_PRODUCER_CONNECTION_LIST (204). */
export function encodeProducerConnection(
  connectionSet: readonly ClientConnection[],
): Uint8Array {
  return encodeJson({ connectionSet: connectionSet.map(connectionToJson) });
}

/** Reads the body of 204; throws `BodyError`. */
export function decodeProducerConnection(
  bytes: Uint8Array,
): ClientConnection[] {
  const name = "ProducerConnection";
  const object = objectOf(decodeJson(bytes, name), name);
  return arrayField(object, "connectionSet").map(connectionFromJson);
}

/** The body of 328. */
export function encodeProducerTable(
  data: ReadonlyMap<string, readonly ProducerInfo[]>,
): Uint8Array {
  return encodeJson({ data: jsonOfMap(data, (it) => it) });
}

/** Reads the body of 328; throws `BodyError`. */
export function decodeProducerTable(
  bytes: Uint8Array,
): Map<string, ProducerInfo[]> {
  const object = objectOf(
    decodeJson(bytes, "ProducerTableInfo"),
    "ProducerTableInfo",
  );
  return mapField(
    object,
    "data",
    (value) => {
      const list = Array.isArray(value) ? value as unknown[] : [];
      return list.map(producerInfoFromJson);
    },
  );
}

function connectionToJson(it: ClientConnection): JsonObject {
  return {
    clientAddr: it.clientAddr,
    clientId: it.clientId,
    language: it.language,
    version: it.version,
  };
}

function connectionFromJson(value: unknown): ClientConnection {
  const object = objectOf(value, "Connection");
  return {
    clientId: textField(object, "clientId", ""),
    clientAddr: textField(object, "clientAddr", ""),
    language: textField(object, "language", ""),
    version: intField(object, "version", 0),
  };
}

function producerInfoFromJson(value: unknown): ProducerInfo {
  const object = objectOf(value, "ProducerInfo");
  return {
    clientId: textField(object, "clientId", ""),
    remoteIP: textField(object, "remoteIP", ""),
    language: textField(object, "language", ""),
    version: intField(object, "version", 0),
    lastUpdateTimestamp: intField(object, "lastUpdateTimestamp", 0),
  };
}
