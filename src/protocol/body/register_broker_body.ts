/** RegisterBrokerBody: what a broker tells a name server (reference 10.2), plain JSON form. */
import {
  BodyError,
  decodeJson,
  encodeJson,
  objectOf,
  textArrayField,
} from "./json_fields.ts";
import { ZERO_DATA_VERSION } from "./data_version_body.ts";
import { decodeCompressedRegisterBrokerBody } from "./register_broker_body_compressed.ts";
import {
  type TopicConfigSerializeWrapper,
  topicConfigWrapperFromJson,
  topicConfigWrapperToJson,
} from "./topic_config_wrapper.ts";

/** Topics of the broker, and its filter servers (none since 4.x). */
export interface RegisterBrokerBody {
  readonly topicConfigSerializeWrapper: TopicConfigSerializeWrapper;
  readonly filterServerList: readonly string[];
}

/** Ordinal of 3.0.11: older brokers send the bare topic table. */
const VERSION_3_0_11 = 37;

/** 5.x brokers compress and say they did not; no JSON begins so. */
const ZLIB_FIRST_BYTE = 0x78;

const EMPTY: RegisterBrokerBody = Object.freeze({
  topicConfigSerializeWrapper: {
    dataVersion: ZERO_DATA_VERSION,
    topicConfigTable: new Map(),
  },
  filterServerList: [],
});

/** The plain form. */
export function encodeRegisterBrokerBody(
  body: RegisterBrokerBody,
): Uint8Array {
  return encodeJson({
    filterServerList: body.filterServerList,
    topicConfigSerializeWrapper: topicConfigWrapperToJson(
      body.topicConfigSerializeWrapper,
    ),
  });
}

/**
 * Reads either form; an empty body is an empty table. `version` is the
 * ordinal of the broker that sent it. Throws `BodyError` or `ZlibError`.
 */
export function decodeRegisterBrokerBody(
  bytes: Uint8Array,
  compressed: boolean,
  version: number,
): RegisterBrokerBody {
  if (bytes.length === 0) return EMPTY;
  if (compressed || bytes[0] === ZLIB_FIRST_BYTE) {
    return decodeCompressedRegisterBrokerBody(bytes);
  }
  const json = objectOf(
    decodeJson(bytes, "RegisterBrokerBody"),
    "RegisterBrokerBody",
  );
  if (version < VERSION_3_0_11) {
    return {
      topicConfigSerializeWrapper: topicConfigWrapperFromJson(json),
      filterServerList: [],
    };
  }
  const wrapper = json.topicConfigSerializeWrapper;
  if (wrapper === undefined || wrapper === null) {
    throw new BodyError(
      "Cannot read RegisterBrokerBody: topicConfigSerializeWrapper is missing",
    );
  }
  return {
    topicConfigSerializeWrapper: topicConfigWrapperFromJson(wrapper),
    filterServerList: textArrayField(json, "filterServerList"),
  };
}
