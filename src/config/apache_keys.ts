/**
 * Apache's keys that PocketMQ knows and does not act upon: an Apache broker.conf starts without
 * noise, except where silence would promise something that is not there.
 *
 * - `SILENT_KEYS` (own file): thread pools, Netty, memory mapping and the like; nothing is lost.
 * - `UNSUPPORTED_KEYS`: a feature that this version lacks. Each says when it matters, and whether
 *   the start may go on: a second master is not what `enableControllerMode=true` asked for.
 */

import { keyTable } from "./config_key.ts";

/** What to do about a value of a key that is not supported. */
export interface UnsupportedKey {
  /** The value with which Apache does what PocketMQ does: no word is lost about it. */
  readonly harmless: string;
  /** `refuse`: starting would be unsafe. `warn`: said once at start. */
  readonly reaction: "refuse" | "warn";
  /** Ends the sentence `Cannot use KEY=VALUE: ` or `KEY=VALUE has no effect: `. */
  readonly sentence: string;
}

function refuse(harmless: string, sentence: string): UnsupportedKey {
  return { harmless, reaction: "refuse", sentence };
}

function warn(harmless: string, sentence: string): UnsupportedKey {
  return { harmless, reaction: "warn", sentence };
}

const NO_ROCKSDB =
  "only the file store is supported; convert the store with Apache's tools or use storeType=default";

/** Keys of features that are missing. */
export const UNSUPPORTED_KEYS: Readonly<Record<string, UnsupportedKey>> =
  keyTable({
    storeType: refuse("default", NO_ROCKSDB),
    rocksdbCQDoubleWriteEnable: warn(
      "false",
      "the RocksDB queue is not supported",
    ),
    enableControllerMode: refuse(
      "false",
      "controller mode is not supported; without an election this broker could become a second master",
    ),
    enableControllerInNamesrv: refuse(
      "false",
      "the controller is not supported; run Apache's controller beside this name server",
    ),
    enableDLegerCommitLog: refuse(
      "false",
      "DLedger is not supported and its log has another format; use the classic commit log",
    ),
    messageStorePlugIn: refuse("", "store plug-ins are not supported"),
    readOnlyCommitLogStorePaths: refuse(
      "",
      "one commit log folder is supported; move the files together",
    ),
    storePathDLedgerCommitLog: refuse("", "DLedger is not supported"),
    enableSlaveActingMaster: warn("false", "it is not supported"),
    enableRemoteEscape: warn("false", "it is not supported"),
    duplicationEnable: warn("false", "it is not supported"),
    enableConsumeQueueExt: warn(
      "false",
      "consumequeue_ext is neither written nor read",
    ),
    enableCalcFilterBitMap: warn("false", "filters are evaluated at pull time"),
    enableLmq: warn("false", "light message queues are not supported"),
    enableMultiDispatch: warn("false", "multi-dispatch is not supported"),
    enableBatchPush: warn("false", "it belongs to DLedger"),
    enabledAppendPropCRC: warn("false", "record checksums are not written"),
    coldDataFlowControlEnable: warn(
      "false",
      "cold reads are bounded in another way",
    ),
    fetchNamesrvAddrByAddressServer: warn(
      "false",
      "address servers are not asked; set namesrvAddr",
    ),
    fetchNameSrvAddrByDnsLookup: warn(
      "false",
      "set namesrvAddr to the name itself",
    ),
    disableConsumeIfConsumerReadSlowly: warn("false", "it is not supported"),
    socksProxyConfig: warn("{}", "proxies are not supported"),
    isBrokerContainer: warn("false", "broker containers are not supported"),
    isInBrokerContainer: warn("false", "broker containers are not supported"),
    supportActingMaster: warn("false", "acting masters are not supported"),
    timerStopEnqueue: warn("false", "timers are not supported yet"),
  });
