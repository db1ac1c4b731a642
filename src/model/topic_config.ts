/** TopicConfig and its permission bits (reference 3.8, 4.8.1). */

/** PermName's bits. */
export const PermName = {
  PRIORITY: 8,
  READ: 4,
  WRITE: 2,
  INHERIT: 1,
} as const;

/** How many tags a message of the topic may carry. */
export type TopicFilterType = "SINGLE_TAG" | "MULTI_TAG";

/** One topic on one broker; field names are those of topics.json. */
export interface TopicConfig {
  readonly topicName: string;
  readonly readQueueNums: number;
  readonly writeQueueNums: number;
  readonly perm: number;
  readonly topicFilterType: TopicFilterType;
  readonly topicSysFlag: number;
  readonly order: boolean;
  readonly attributes: Readonly<Record<string, string>>;
}
