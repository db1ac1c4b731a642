/** HARoleBody: what a PocketMQ broker answers to GET_HA_ROLE (31002). */
import {
  decodeJson,
  encodeJson,
  intField,
  objectOf,
  textArrayField,
  textField,
} from "./json_fields.ts";

/** Role, epoch and log of one broker. */
export interface HARoleBody {
  /** `ASYNC_MASTER`, `SYNC_MASTER` or `SLAVE`. */
  readonly role: string;
  readonly brokerId: number;
  readonly brokerName: string;
  /** Of a slave: the highest one that it knows. 0: nobody was ever promoted. */
  readonly epoch: number;
  /** End of the log when the broker was last promoted; 0: it never was. */
  readonly promotedAtOffset: number;
  readonly minOffset: number;
  readonly maxOffset: number;
  /** `host:port` of the replication port, as others are told; empty when not said. */
  readonly haAddress: string;
  /** Remoting addresses of the slaves that followed this broker since it started, and have not moved. */
  readonly slaves: readonly string[];
  /** `promotion` or `demotion` while one is under way; else empty. */
  readonly roleChange: string;
}

/** The body. */
export function encodeHARole(body: HARoleBody): Uint8Array {
  return encodeJson(body);
}

/** Reads that body. Throws `BodyError`. */
export function decodeHARole(bytes: Uint8Array): HARoleBody {
  const json = objectOf(decodeJson(bytes, "HARole"), "HARole");
  return {
    role: textField(json, "role", ""),
    brokerId: intField(json, "brokerId", -1),
    brokerName: textField(json, "brokerName", ""),
    epoch: intField(json, "epoch", 0),
    promotedAtOffset: intField(json, "promotedAtOffset", 0),
    minOffset: intField(json, "minOffset", 0),
    maxOffset: intField(json, "maxOffset", 0),
    haAddress: textField(json, "haAddress", ""),
    slaves: textArrayField(json, "slaves"),
    roleChange: textField(json, "roleChange", ""),
  };
}
