/** What SendMessageProcessor needs of the others, and the keys that it reads. */
import type { Clock } from "../io/clock.ts";
import type { Random } from "../io/random.ts";
import type {
  MessageExtBatch,
  MessageExtBrokerInner,
} from "../model/message_ext.ts";
import type { SocketAddress } from "../model/socket_address.ts";
import type { PutMessageResult } from "../store/put_message_result.ts";
import type { SendTopicsPorts } from "./send_topics.ts";
import type { TimerSendOptions } from "./timer/timer_send.ts";
import type { SendStats } from "./topic_put_stats.ts";

/** What a send needs of the store. */
export interface PutMessageStore {
  putMessage(
    message: MessageExtBrokerInner,
  ): PutMessageResult | Promise<PutMessageResult>;
  putMessages(
    batch: MessageExtBatch,
  ): PutMessageResult | Promise<PutMessageResult>;
}

/** What a send needs of the broker. */
export interface SendMessagePorts extends SendTopicsPorts {
  readonly store: PutMessageStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly uniqIds: { createUniqID(nowMs: number): string };
  /** brokerIP1:listenPort, as records carry it. */
  readonly storeHost: SocketAddress;
  readonly stats: SendStats;
  readonly putTimes: { add(elapsedMs: number): void };
  /** Of messageDelayLevel; levels above count as this one. */
  readonly maxDelayLevel: number;
  readonly timerMetrics: {
    onEnqueued(topic: string, nowMs: number, waitMs: number): void;
  };
}

/** Keys of broker.conf that a send reads. */
export interface SendMessageOptions extends TimerSendOptions {
  readonly brokerClusterName: string;
  readonly brokerIP1: string;
  readonly brokerPermission: number;
  readonly startAcceptSendRequestTimeStamp: number;
  readonly rejectTransactionMessage: boolean;
  readonly regionId: string;
  readonly traceOn: boolean;
}
