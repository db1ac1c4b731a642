/** MessageQueue: one queue of one topic on one broker. */
export interface MessageQueue {
  readonly topic: string;
  readonly brokerName: string;
  readonly queueId: number;
}
