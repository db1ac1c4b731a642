/** NamesrvOptions: what a name server can be told (reference 15.3), under RocketMQ's keys. */

/** Milliseconds unless the name says otherwise. */
export interface NamesrvOptions {
  readonly bindAddress: string;
  /** 0 takes a free port. */
  readonly listenPort: number;
  /** `kvConfig.json`; an empty text keeps the table in memory only. */
  readonly kvConfigPath: string;
  /** Shown by GET_NAMESRV_CONFIG; never changeable from outside. */
  readonly configStorePath: string;
  /** Adds `orderTopicConf` to routes. */
  readonly orderMessageEnable: boolean;
  readonly returnOrderTopicConfigToBroker: boolean;
  readonly scanNotActiveBrokerInterval: number;
  /** Shows the smallest living slave of a group with acting master as its master. */
  readonly supportActingMaster: boolean;
  /** Sends 905 when the smallest living id of a broker name changes. */
  readonly notifyMinBrokerIdChanged: boolean;
  readonly enableAllTopicList: boolean;
  /** Refuses routes for `waitSecondsForService` after the start. */
  readonly needWaitForService: boolean;
  /** Seconds. */
  readonly waitSecondsForService: number;
  /** A full registration of a master replaces its topics: what it no longer has leaves the route. */
  readonly deleteTopicWithBrokerRegistration: boolean;
  /** Most brokers registered at once. */
  readonly registeredBrokersMax: number;
  /** Most topics in the route table. */
  readonly topicsMax: number;
  /** Most KV entries over all namespaces. */
  readonly kvConfigEntriesMax: number;
}

/**
 * Apache's defaults, but for `deleteTopicWithBrokerRegistration`: there a topic
 * deleted on one of two brokers stays in the route until a restart.
 */
export const DEFAULT_NAMESRV_OPTIONS: NamesrvOptions = Object.freeze({
  bindAddress: "0.0.0.0",
  listenPort: 9876,
  kvConfigPath: "",
  configStorePath: "",
  orderMessageEnable: false,
  returnOrderTopicConfigToBroker: true,
  scanNotActiveBrokerInterval: 5_000,
  supportActingMaster: false,
  notifyMinBrokerIdChanged: false,
  enableAllTopicList: true,
  needWaitForService: false,
  waitSecondsForService: 45,
  deleteTopicWithBrokerRegistration: true,
  registeredBrokersMax: 4_096,
  topicsMax: 500_000,
  kvConfigEntriesMax: 10_000,
});
