/** GroupMembersAdmin: asks the members of a group, through a broker that they are connected to. */
import {
  type ConsumeMessageDirectlyResult,
  type ConsumerRunningInfo,
  decodeConsumeMessageDirectlyResult,
  decodeConsumerRunningInfo,
} from "../protocol/body/consumer_running_info.ts";
import { createRequest } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import type { GroupAdmin } from "./group_admin.ts";
import { MQClientError } from "./mq_client_error.ts";
import type { MQClientInstance } from "./mq_client_instance.ts";

/** A broker waits 10 s for a member. */
const CALL_TIMEOUT_MS = 12_000;

/** A member and what it says of itself. */
export interface RunningMember {
  readonly clientId: string;
  readonly info: ConsumerRunningInfo;
}

/** Which message goes to which member. */
export interface DirectConsumption {
  readonly group: string;
  readonly clientId: string;
  readonly topic: string;
  /** The offset id: it says where the record lies. */
  readonly offsetMsgId: string;
  /** The broker that has it, `host:port`. */
  readonly address: string;
}

/** Calls to members. Throws `MQClientError` when nobody answers for one. */
export class GroupMembersAdmin {
  readonly #instance: MQClientInstance;
  readonly #groups: GroupAdmin;

  constructor(instance: MQClientInstance, groups: GroupAdmin) {
    this.#instance = instance;
    this.#groups = groups;
  }

  /** Client ids of the members on line, sorted. */
  async clientIds(group: string): Promise<string[]> {
    const connection = await this.#groups.connections(group);
    return (connection?.connectionSet ?? []).map((it) => it.clientId).sort();
  }

  /** What a member says of itself, with the stacks of its threads if asked for. */
  async runningInfo(
    group: string,
    clientId: string,
    jstackEnable: boolean,
  ): Promise<RunningMember> {
    const addresses = await this.#groups.addressesOf(group);
    let failure: unknown = new MQClientError("No broker is registered", null);
    for (const address of addresses) {
      try {
        const { body } = await this.#instance.invokeOk(
          address,
          createRequest(RequestCode.GET_CONSUMER_RUNNING_INFO, {
            consumerGroup: group,
            clientId,
            jstackEnable: String(jstackEnable),
          }),
          CALL_TIMEOUT_MS,
        );
        return { clientId, info: decodeConsumerRunningInfo(body) };
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  /** Has a member consume one message now; whatever it makes of it, no offset changes. */
  async consumeDirectly(
    { group, clientId, topic, offsetMsgId, address }: DirectConsumption,
  ): Promise<ConsumeMessageDirectlyResult> {
    const { body } = await this.#instance.invokeOk(
      address,
      createRequest(RequestCode.CONSUME_MESSAGE_DIRECTLY, {
        consumerGroup: group,
        clientId,
        topic,
        msgId: offsetMsgId,
      }),
      CALL_TIMEOUT_MS,
    );
    return decodeConsumeMessageDirectlyResult(body);
  }
}
