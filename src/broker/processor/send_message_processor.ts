/**
 * SendMessageProcessor: SEND_MESSAGE (10), SEND_MESSAGE_V2 (310), SEND_BATCH_MESSAGE (320).
 *
 * The checks are those of reference 3.2, in its order, with 5.x codes. A message
 * with a delay level goes to SCHEDULE_TOPIC_XXXX, a timer message to
 * rmq_sys_wheel_timer, a transactional one becomes a half message.
 *
 * Invariants
 * - No map is built and nothing is awaited while the store answers synchronously.
 * - The body is the store's before `process` returns.
 */
import { shown } from "../../base/shown.ts";
import { encodeMessageId } from "../../model/message_id.ts";
import type {
  MessageExtBatch,
  MessageExtBrokerInner,
} from "../../model/message_ext.ts";
import { MessageSysFlag } from "../../model/message_sys_flag.ts";
import type { TopicConfig } from "../../model/topic_config.ts";
import { isRetryTopic, TopicNames } from "../../model/topic_names.ts";
import { TOPIC_LENGTH_MAX } from "../../model/validators.ts";
import {
  decodeSendMessageRequestHeader,
  decodeSendMessageRequestHeaderV2,
  type SendMessageRequestHeader,
} from "../../protocol/header/send_message_request_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { RequestContext } from "../../remoting/request_processor.ts";
import type { PutMessageResult } from "../../store/put_message_result.ts";
import { batchError } from "../batch_check.ts";
import { isStored, remarkOfPut, responseCodeOfPut } from "../put_response.ts";
import { delayLevelOf, toScheduleMessage } from "../schedule_message.ts";
import { SendProperties } from "../send_properties.ts";
import type {
  SendMessageOptions,
  SendMessagePorts,
} from "../send_message_ports.ts";
import { SendTopics } from "../send_topics.ts";
import { unsupportedSend } from "../send_unsupported.ts";
import { type TimedSend, timedSend } from "../timer/timer_send.ts";
import type { MessageType } from "../topic_put_stats.ts";
import { halfMessageOf } from "../transaction/half_message.ts";

const V6_BITS = MessageSysFlag.BORNHOST_V6 |
  MessageSysFlag.STOREHOSTADDRESS_V6;

/** Where one message goes after all checks. */
interface Target {
  readonly topicConfig: TopicConfig;
  readonly queueId: number;
  readonly isDeadLetter: boolean;
  readonly type: MessageType;
  /** The topic that the message counts for. */
  readonly counted: string;
  /** Of a timer message. */
  readonly timed?: TimedSend;
}

/** Answers sends. */
export class SendMessageProcessor {
  readonly #ports: SendMessagePorts;
  readonly #topics: SendTopics;
  readonly #properties = new SendProperties();
  readonly #storeHostV6Bit: number;
  #options: SendMessageOptions;
  /** What the broker says of itself with each message, as 5.x does: its consumers trace no other. */
  #brokerPairs = "";

  constructor(ports: SendMessagePorts, options: SendMessageOptions) {
    this.#ports = ports;
    this.#topics = new SendTopics(ports, options);
    this.#storeHostV6Bit = ports.storeHost.address.length === 4
      ? 0
      : MessageSysFlag.STOREHOSTADDRESS_V6;
    this.#options = options;
    this.reconfigure(options);
  }

  reconfigure(options: SendMessageOptions): void {
    this.#options = options;
    this.#topics.reconfigure(options);
    this.#brokerPairs = `CLUSTER\u0001${options.brokerClusterName}\u0002` +
      `MSG_REGION\u0001${options.regionId}\u0002` +
      `TRACE_ON\u0001${options.traceOn}\u0002`;
  }

  readonly process = (
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand | Promise<RemotingCommand> => {
    const header = request.code === RequestCode.SEND_MESSAGE
      ? decodeSendMessageRequestHeader(request.extFields)
      : decodeSendMessageRequestHeaderV2(request.extFields);
    const accepts = this.#options.startAcceptSendRequestTimeStamp;
    if (accepts > 0 && this.#ports.clock.nowMs() < accepts) {
      return this.#refuse(
        ResponseCode.SYSTEM_ERROR,
        `broker unable to service, until ${new Date(accepts).toISOString()} ` +
          "(startAcceptSendRequestTimeStamp)",
      );
    }
    const topicConfig = this.#topics.check(context, header);
    if ("code" in topicConfig) {
      return this.#refuse(topicConfig.code, topicConfig.remark);
    }
    return header.batch || request.code === RequestCode.SEND_BATCH_MESSAGE
      ? this.#sendBatch(context, request, header, topicConfig)
      : this.#sendMessage(context, request, header, topicConfig);
  };

  #sendMessage(
    context: RequestContext,
    request: RemotingCommand,
    header: SendMessageRequestHeader,
    topicConfig: TopicConfig,
  ): RemotingCommand | Promise<RemotingCommand> {
    const properties = this.#properties;
    properties.scan(header.properties);
    let target: Target = {
      topicConfig,
      queueId: this.#queueIdOf(header.queueId, topicConfig),
      isDeadLetter: false,
      type: properties.messageType,
      counted: topicConfig.topicName,
    };
    if (isRetryTopic(header.topic)) {
      const redirected = this.#topics.redirect(request, header);
      if (redirected && "code" in redirected) {
        return this.#refuse(redirected.code, redirected.remark);
      }
      if (redirected) {
        this.#ports.stats.onSendToDlq(header.topic, header.producerGroup);
        target = {
          ...target,
          topicConfig: redirected,
          queueId: 0,
          isDeadLetter: true,
          counted: redirected.topicName,
        };
      }
    }
    // What comes back for another try keeps the property of its first send.
    const isHalf = properties.isTransactional && !isRetryTopic(header.topic);
    const { isDeadLetter } = target;
    const refusal = unsupportedSend(
      header.sysFlag,
      properties,
      { isDeadLetter, isHalf },
      this.#options,
    );
    if (refusal) return this.#refuse(refusal.code, refusal.remark);
    let text = isDeadLetter
      ? properties.storedTextWithoutDelay()
      : properties.storedText();
    let uniqKey = properties.uniqKey;
    if (uniqKey === "") {
      const { clock, uniqIds } = this.#ports;
      uniqKey = uniqIds.createUniqID(clock.nowMs());
      text += `UNIQ_KEY\u0001${uniqKey}\u0002`;
    }
    if (isHalf) {
      target = { ...target, counted: TopicNames.RMQ_SYS_TRANS_HALF_TOPIC };
    }
    const message = this.#inner(context, request, header, target, text);
    const level = this.#delayLevel(isDeadLetter);
    if (level > 0) {
      target = { ...target, counted: TopicNames.RMQ_SYS_SCHEDULE_TOPIC };
    }
    const { clock, maxDelayLevel, store } = this.#ports;
    if (properties.timer !== "" && level <= 0 && !isHalf && !isDeadLetter) {
      const timed = timedSend(message, uniqKey, clock.nowMs(), this.#options);
      if (timed && "code" in timed) {
        return this.#refuse(timed.code, timed.remark);
      }
      if (timed) {
        target = { ...target, counted: TopicNames.TIMER_TOPIC, timed };
        const result = store.putMessage(timed.message);
        return this.#answerOnce(result, target, uniqKey);
      }
    }
    const stored = isHalf
      ? halfMessageOf(message, uniqKey)
      : level > 0
      ? toScheduleMessage(message, level, maxDelayLevel)
      : message;
    return this.#answerOnce(store.putMessage(stored), target, uniqKey);
  }

  /** 0 for whatever is delivered at once. */
  #delayLevel(isDeadLetter: boolean): number {
    const { delay } = this.#properties;
    return delay === "" || isDeadLetter ? 0 : delayLevelOf(delay) ?? 0;
  }

  #sendBatch(
    context: RequestContext,
    request: RemotingCommand,
    header: SendMessageRequestHeader,
    topicConfig: TopicConfig,
  ): RemotingCommand | Promise<RemotingCommand> {
    const { topic } = header;
    if (topic.length > TOPIC_LENGTH_MAX) {
      return this.#refuse(
        ResponseCode.MESSAGE_ILLEGAL,
        `message topic length too long ${topic.length}, the limit of a ` +
          `batch is ${TOPIC_LENGTH_MAX}`,
      );
    }
    if (isRetryTopic(topic)) {
      return this.#refuse(
        ResponseCode.MESSAGE_ILLEGAL,
        `batch request does not support retry group ${shown(topic)}`,
      );
    }
    const properties = this.#properties;
    properties.scan(header.properties);
    const refusal = unsupportedSend(
      header.sysFlag,
      properties,
      { isDeadLetter: false, isHalf: false },
      this.#options,
    );
    if (refusal) return this.#refuse(refusal.code, refusal.remark);
    const wrong = properties.isTransactional
      ? "a batch holds no transactional messages (property TRAN_MSG)"
      : this.#delayLevel(false) > 0
      ? "a batch holds no delayed messages (property DELAY)"
      : properties.timer !== ""
      ? `a batch holds no timer messages (property ${properties.timer})`
      : batchError(request.body);
    if (wrong !== undefined) {
      return this.#refuse(ResponseCode.MESSAGE_ILLEGAL, wrong);
    }
    const uniqKey = properties.uniqKey;
    const target: Target = {
      topicConfig,
      queueId: this.#queueIdOf(header.queueId, topicConfig),
      isDeadLetter: false,
      type: properties.messageType,
      counted: topicConfig.topicName,
    };
    const text = properties.storedText();
    const batch: MessageExtBatch = {
      ...this.#inner(context, request, header, target, text),
      isBatch: true,
    };
    const { store } = this.#ports;
    return this.#answerOnce(store.putMessages(batch), target, uniqKey);
  }

  #inner(
    context: RequestContext,
    request: RemotingCommand,
    header: SendMessageRequestHeader,
    target: Target,
    propertiesText: string,
  ): MessageExtBrokerInner {
    const bornHost = context.connection.remoteHost;
    let sysFlag = (header.sysFlag & ~V6_BITS) | this.#storeHostV6Bit;
    if (bornHost.address.length !== 4) sysFlag |= MessageSysFlag.BORNHOST_V6;
    if (target.topicConfig.topicFilterType === "MULTI_TAG") {
      sysFlag |= MessageSysFlag.MULTI_TAGS;
    }
    return {
      topic: target.topicConfig.topicName,
      queueId: target.queueId,
      flag: header.flag,
      sysFlag,
      body: request.body,
      bornTimestamp: header.bornTimestamp,
      bornHost,
      storeHost: this.#ports.storeHost,
      reconsumeTimes: header.reconsumeTimes,
      preparedTransactionOffset: 0,
      propertiesText: propertiesText + this.#brokerPairs,
      tagsCode: this.#properties.tagsCode,
      waitStoreMsgOk: this.#properties.waitStoreMsgOk,
    };
  }

  #queueIdOf(queueId: number, topicConfig: TopicConfig): number {
    return queueId >= 0
      ? queueId
      : this.#ports.random.nextInt(Math.max(topicConfig.writeQueueNums, 1));
  }

  /** Answers when the message is as safe as was asked for, and its topic is in its file. */
  #answerOnce(
    result: PutMessageResult | Promise<PutMessageResult>,
    target: Target,
    uniqKey: string,
  ): RemotingCommand | Promise<RemotingCommand> {
    const stored = this.#topics.whenStored(target.topicConfig.topicName);
    if (stored !== undefined) {
      return Promise.all([result, stored]).then(([it]) =>
        this.#answer(it, target, uniqKey)
      );
    }
    return result instanceof Promise
      ? result.then((it) => this.#answer(it, target, uniqKey))
      : this.#answer(result, target, uniqKey);
  }

  #answer(
    result: PutMessageResult,
    { counted, queueId, timed, topicConfig, type }: Target,
    uniqKey: string,
  ): RemotingCommand {
    const code = responseCodeOfPut(result.status);
    const remark = remarkOfPut(result.status, result.reason);
    if (!isStored(result.status)) return this.#refuse(code, remark);
    const { clock, putTimes, stats } = this.#ports;
    // From its stamp in the record to here: write, flush and slaves. A set clock may go back.
    const elapsedMs = Math.max(0, clock.nowMs() - result.storeTimestamp);
    putTimes.add(elapsedMs);
    stats.onPut(
      counted,
      queueId,
      type,
      result.messageCount,
      result.size,
      elapsedMs,
    );
    if (timed !== undefined) {
      this.#ports.timerMetrics.onEnqueued(
        topicConfig.topicName,
        result.storeTimestamp,
        timed.waitMs,
      );
    }
    return createResponse(code, remark, {
      msgId: this.#messageIdOf(result),
      queueId: String(queueId),
      queueOffset: String(result.queueOffset),
      transactionId: uniqKey,
      MSG_REGION: this.#options.regionId,
      TRACE_ON: this.#options.traceOn ? "true" : "false",
      ...(timed?.recallHandle ? { recallHandle: timed.recallHandle } : {}),
    });
  }

  #messageIdOf(result: PutMessageResult): string {
    const { storeHost } = this.#ports;
    return result.phyOffsets === undefined
      ? encodeMessageId(storeHost, result.phyOffset)
      : result.phyOffsets.map((it) => encodeMessageId(storeHost, it)).join(",");
  }

  /** Clients read these two fields of every answer without a look. */
  #refuse(code: number, remark: string | null): RemotingCommand {
    return createResponse(code, remark, {
      MSG_REGION: this.#options.regionId,
      TRACE_ON: this.#options.traceOn ? "true" : "false",
    });
  }
}
