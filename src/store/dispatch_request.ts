/** DispatchRequest: what dispatch needs of one CommitLog record. */
export interface DispatchRequest {
  readonly topic: string;
  readonly queueId: number;
  readonly phyOffset: number;
  /** TOTALSIZE in bytes. */
  readonly size: number;
  readonly tagsCode: number;
  readonly storeTimestamp: number;
  readonly queueOffset: number;
  readonly sysFlag: number;
  readonly preparedTransactionOffset: number;
  /** Encoded properties: KEYS and UNIQ_KEY are cut out by whoever indexes. */
  readonly propertiesText: string;
}
