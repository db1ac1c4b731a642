/** Asks brokers whether they read the expressions of a consumer (46), as stock clients do when they start. */
import { isTagType } from "../model/filter_api.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";
import { encodeCheckClientRequestBody } from "../protocol/body/check_client_body.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { isNoAnswer, refusedBy } from "./mq_client_error.ts";
import type { MQClientInstance } from "./mq_client_instance.ts";

/**
 * Throws `MQClientError` with what a broker says against an expression. A
 * broker that does not answer, or does not know the question, has no say.
 */
export async function checkClientConfig(
  instance: MQClientInstance,
  group: string,
  subscriptions: readonly SubscriptionData[],
  addresses: readonly string[],
): Promise<void> {
  for (const subscriptionData of subscriptions) {
    if (isTagType(subscriptionData.expressionType)) continue;
    const body = encodeCheckClientRequestBody({
      clientId: instance.clientId,
      group,
      subscriptionData,
    });
    for (const address of addresses) {
      await checkAt(instance, address, body);
    }
  }
}

async function checkAt(
  instance: MQClientInstance,
  address: string,
  body: Uint8Array,
): Promise<void> {
  const code = RequestCode.CHECK_CLIENT_CONFIG;
  try {
    const response = await instance.invoke(
      address,
      createRequest(code, {}, body),
    );
    if (
      response.code !== ResponseCode.SUCCESS &&
      response.code !== ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    ) throw refusedBy(address, code, response, cureOf(response));
  } catch (error) {
    if (!isNoAnswer(error)) throw error;
  }
}

/** Brokers read no expressions by default. */
function cureOf({ remark }: RemotingCommand): string {
  return remark?.includes("does not support consumer to filter")
    ? "set enablePropertyFilter=true on that broker, or filter by tags"
    : "";
}
