/**
 * RecallMessageProcessor: RECALL_MESSAGE (370, 5.x) takes a timer message back.
 *
 * The recall is a timer message itself: it comes up together with the other one, keeps it from
 * being delivered, and goes wherever that one goes, to a slave and over a restart.
 */
import { javaHashCode } from "../../base/java_hash.ts";
import { shown } from "../../base/shown.ts";
import type { Clock } from "../../io/clock.ts";
import type { MessageExtBrokerInner } from "../../model/message_ext.ts";
import {
  encodeProperties,
  MessageConst,
} from "../../model/message_properties.ts";
import { MessageSysFlag } from "../../model/message_sys_flag.ts";
import {
  decodeRecallHandle,
  type RecallMessageHandle,
} from "../../model/recall_message_handle.ts";
import type { SocketAddress } from "../../model/socket_address.ts";
import { PermName, type TopicConfig } from "../../model/topic_config.ts";
import {
  decodeRecallMessageRequestHeader,
  type RecallMessageRequestHeader,
} from "../../protocol/header/recall_message_request_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { RequestContext } from "../../remoting/request_processor.ts";
import { isStored } from "../put_response.ts";
import type { PutMessageStore } from "../send_message_ports.ts";
import { recallKeyOf, toTimerMessage } from "../timer/timer_message.ts";

/** What it needs. */
export interface RecallMessagePorts {
  readonly store: Pick<PutMessageStore, "putMessage">;
  readonly topics: {
    selectTopicConfig(topic: string): TopicConfig | undefined;
  };
  readonly clock: Clock;
  /** brokerIP1:listenPort, as records carry it. */
  readonly storeHost: SocketAddress;
  isSlave(): boolean;
}

/** Keys of broker.conf that it reads. */
export interface RecallMessageOptions {
  readonly brokerName: string;
  readonly brokerPermission: number;
  readonly startAcceptSendRequestTimeStamp: number;
  readonly recallMessageEnable: boolean;
  readonly allowRecallWhenBrokerNotWriteable: boolean;
  readonly timerWheelEnable: boolean;
  /** Seconds. */
  readonly timerMaxDelaySec: number;
  readonly regionId: string;
}

/** As Apache tags a recall. */
const RECALL_MESSAGE_TAG = "_RECALL_TAG_";
/** Nobody reads it. */
const BODY = new TextEncoder().encode("0");

/** Answers 370. */
export class RecallMessageProcessor {
  constructor(
    private readonly ports: RecallMessagePorts,
    private options: RecallMessageOptions,
  ) {}

  reconfigure(options: RecallMessageOptions): void {
    this.options = options;
  }

  readonly process = async (
    context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const header = decodeRecallMessageRequestHeader(request.extFields);
    const refused = this.#refusal(header);
    if (refused !== undefined) return refused;
    const handle = decodeRecallHandle(header.recallHandle);
    const fault = handle === undefined
      ? `recallHandle ${shown(header.recallHandle)} is none`
      : this.#handleFault(handle, header.topic);
    if (fault !== undefined) {
      return this.#answer(
        ResponseCode.ILLEGAL_OPERATION,
        `recall failed, ${fault}`,
      );
    }
    const recall = this.#recall(context, header, handle!);
    const result = typeof recall === "string"
      ? { status: "MESSAGE_ILLEGAL" as const, reason: recall }
      : await this.ports.store.putMessage(recall);
    return isStored(result.status)
      ? this.#answer(ResponseCode.SUCCESS, null, { msgId: handle!.uniqKey })
      : this.#answer(
        ResponseCode.SYSTEM_ERROR,
        `recall failed, ${result.status}: ${result.reason ?? ""}`,
      );
  };

  #refusal({ topic }: RecallMessageRequestHeader): RemotingCommand | undefined {
    const { options, ports } = this;
    const refuse = (code: number, reason: string) =>
      this.#answer(code, `recall failed, ${reason}`);
    if (!options.recallMessageEnable || !options.timerWheelEnable) {
      return refuse(
        ResponseCode.NO_PERMISSION,
        "operation is forbidden (recallMessageEnable, timerWheelEnable)",
      );
    }
    if (ports.isSlave()) {
      return refuse(
        ResponseCode.SLAVE_NOT_AVAILABLE,
        "this broker is a slave, ask its master",
      );
    }
    const accepts = options.startAcceptSendRequestTimeStamp;
    if (ports.clock.nowMs() < accepts) {
      return refuse(
        ResponseCode.SERVICE_NOT_AVAILABLE,
        `the broker takes nothing until ${new Date(accepts).toISOString()}`,
      );
    }
    const isWritable = (options.brokerPermission & PermName.WRITE) !== 0;
    if (!isWritable && !options.allowRecallWhenBrokerNotWriteable) {
      return refuse(
        ResponseCode.SERVICE_NOT_AVAILABLE,
        "the broker takes no messages (brokerPermission)",
      );
    }
    return ports.topics.selectTopicConfig(topic) === undefined
      ? refuse(
        ResponseCode.TOPIC_NOT_EXIST,
        `the topic[${shown(topic)}] not exist`,
      )
      : undefined;
  }

  #handleFault(
    { brokerName, timestampMs, topic }: RecallMessageHandle,
    asked: string,
  ): string | undefined {
    const { options } = this;
    if (topic !== asked) {
      return `the handle is of topic ${shown(topic)}, not of ${shown(asked)}`;
    }
    if (brokerName !== options.brokerName) {
      return `the handle is of broker ${
        shown(brokerName)
      }, this one is ${options.brokerName}`;
    }
    const leftMs = timestampMs - this.ports.clock.nowMs();
    if (leftMs > 0 && leftMs < options.timerMaxDelaySec * 1_000) {
      return undefined;
    }
    return leftMs <= 0
      ? "the time of the message has come"
      : `the time of the message is further away than timerMaxDelaySec=${options.timerMaxDelaySec}`;
  }

  #recall(
    { connection }: RequestContext,
    { producerGroup = "" }: RecallMessageRequestHeader,
    { timestampMs, topic, uniqKey }: RecallMessageHandle,
  ): MessageExtBrokerInner | string {
    const { clock, storeHost } = this.ports;
    const bornHost = connection.remoteHost;
    const nowMs = clock.nowMs();
    const { BORNHOST_V6, STOREHOSTADDRESS_V6 } = MessageSysFlag;
    return toTimerMessage({
      topic,
      queueId: 0,
      flag: 0,
      sysFlag: (bornHost.address.length === 4 ? 0 : BORNHOST_V6) |
        (storeHost.address.length === 4 ? 0 : STOREHOSTADDRESS_V6),
      body: BODY,
      bornTimestamp: nowMs,
      bornHost,
      storeHost,
      reconsumeTimes: 0,
      preparedTransactionOffset: 0,
      propertiesText: encodeProperties([
        [MessageConst.TAGS, RECALL_MESSAGE_TAG],
        [MessageConst.TIMER_DEL_UNIQKEY, recallKeyOf(topic, uniqKey)],
        [MessageConst.UNIQ_KEY, uniqKey],
        [MessageConst.TIMER_DELIVER_MS, String(timestampMs)],
        ...(producerGroup === ""
          ? []
          : [[MessageConst.PGROUP, producerGroup] as const]),
      ]),
      tagsCode: javaHashCode(RECALL_MESSAGE_TAG),
      waitStoreMsgOk: true,
    }, timestampMs);
  }

  #answer(
    code: number,
    remark: string | null,
    fields: Record<string, string> = {},
  ): RemotingCommand {
    return createResponse(code, remark, {
      MSG_REGION: this.options.regionId,
      ...fields,
    });
  }
}
