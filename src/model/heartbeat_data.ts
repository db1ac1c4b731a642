/** HeartbeatData: what a client says of itself every 30 s (reference 11.1). */
import type { SubscriptionData } from "./subscription_data.ts";

/** How a consumer gets its messages. */
export type ConsumeType =
  | "CONSUME_ACTIVELY"
  | "CONSUME_PASSIVELY"
  | "CONSUME_POP";

/** Whether a group shares the messages or every member gets all. */
export type MessageModel = "BROADCASTING" | "CLUSTERING";

/** Where a group without a stored offset begins. */
export type ConsumeFromWhere =
  | "CONSUME_FROM_LAST_OFFSET"
  | "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST"
  | "CONSUME_FROM_MIN_OFFSET"
  | "CONSUME_FROM_MAX_OFFSET"
  | "CONSUME_FROM_FIRST_OFFSET"
  | "CONSUME_FROM_TIMESTAMP";

/** One consumer group of a client. */
export interface ConsumerData {
  readonly groupName: string;
  readonly consumeType: ConsumeType;
  readonly messageModel: MessageModel;
  readonly consumeFromWhere: ConsumeFromWhere;
  readonly subscriptionDataSet: readonly SubscriptionData[];
  readonly unitMode: boolean;
}

/** One producer group of a client. */
export interface ProducerData {
  readonly groupName: string;
}

/** The body of a heartbeat. */
export interface HeartbeatData {
  readonly clientID: string;
  readonly producerDataSet: readonly ProducerData[];
  readonly consumerDataSet: readonly ConsumerData[];
  /** 0: a heartbeat of the first version. */
  readonly heartbeatFingerprint: number;
  /** True: subscriptions are left out and the stored ones stay. */
  readonly withoutSub: boolean;
}
