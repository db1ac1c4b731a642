/** SubscriptionData: what one group wants of one topic (reference 4.8.2). */
export interface SubscriptionData {
  readonly topic: string;
  readonly subString: string;
  readonly tagsSet: readonly string[];
  readonly codeSet: readonly number[];
  readonly subVersion: number;
  readonly expressionType: string;
  readonly classFilterMode: boolean;
}
