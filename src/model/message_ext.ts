/** MessageExt and MessageExtBrokerInner: a stored message, and one on its way into the store. */
import type { SocketAddress } from "./socket_address.ts";

/** A decoded CommitLog record. */
export interface MessageExt {
  readonly topic: string;
  readonly queueId: number;
  readonly queueOffset: number;
  /** CommitLog offset of the record. */
  readonly phyOffset: number;
  /** TOTALSIZE in bytes. */
  readonly storeSize: number;
  readonly flag: number;
  readonly sysFlag: number;
  readonly bodyCrc: number;
  readonly body: Uint8Array;
  readonly bornTimestamp: number;
  readonly bornHost: SocketAddress;
  readonly storeTimestamp: number;
  readonly storeHost: SocketAddress;
  readonly reconsumeTimes: number;
  readonly preparedTransactionOffset: number;
  /** `name \u0001 value \u0002 …` as stored. */
  readonly propertiesText: string;
}

/**
 * What the broker hands to `MessageStore.putMessage`. The store copies `body`
 * before it returns, so it may be a view of a receive buffer.
 */
export interface MessageExtBrokerInner {
  readonly topic: string;
  readonly queueId: number;
  readonly flag: number;
  readonly sysFlag: number;
  readonly body: Uint8Array;
  readonly bornTimestamp: number;
  readonly bornHost: SocketAddress;
  readonly storeHost: SocketAddress;
  readonly reconsumeTimes: number;
  readonly preparedTransactionOffset: number;
  /** Encoded properties, complete: CLUSTER, UNIQ_KEY and the rest are in it. */
  readonly propertiesText: string;
  /** javaHashCode of TAGS; 0 without tag; a delivery time for SCHEDULE_TOPIC_XXXX. */
  readonly tagsCode: number;
  /** False with property WAIT=false: do not wait for flush or replication. */
  readonly waitStoreMsgOk: boolean;
}

/** A batch (request 320): `body` holds the entries of reference 3.6; each becomes a record. */
export interface MessageExtBatch extends MessageExtBrokerInner {
  readonly isBatch: true;
}
