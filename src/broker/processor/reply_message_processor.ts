/**
 * ReplyMessageProcessor: SEND_REPLY_MESSAGE (324) and its _V2 (325), reference 2.2.
 *
 * A reply goes to the client that its property REPLY_TO_CLIENT names, over that client's own
 * connection (326), and unless `storeReplyMessageEnable` is off also into `<cluster>_REPLY_TOPIC`.
 * The answer tells of the push alone, as in Apache's broker: whoever asked waits no longer for a
 * reply that was stored only.
 *
 * Invariant: the body is the connection's and the store's before anything is awaited.
 */
import { shown } from "../../base/shown.ts";
import type { Logger } from "../../io/logger.ts";
import { encodeMessageId } from "../../model/message_id.ts";
import type { MessageExtBrokerInner } from "../../model/message_ext.ts";
import {
  decodeProperties,
  encodeProperties,
  MessageConst,
} from "../../model/message_properties.ts";
import { MessageSysFlag } from "../../model/message_sys_flag.ts";
import {
  encodeReplyMessageRequestHeader,
} from "../../protocol/header/reply_message_request_header.ts";
import {
  decodeSendMessageRequestHeader,
  decodeSendMessageRequestHeaderV2,
  type SendMessageRequestHeader,
} from "../../protocol/header/send_message_request_header.ts";
import {
  createRequest,
  createResponse,
  type ExtFields,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  RemotingConnection,
  RequestContext,
} from "../../remoting/request_processor.ts";
import type { PutMessageResult } from "../../store/put_message_result.ts";
import { isStored, remarkOfPut } from "../put_response.ts";
import type { SendMessagePorts } from "../send_message_ports.ts";
import { SendProperties } from "../send_properties.ts";
import { SendTopics } from "../send_topics.ts";
import { compressionFault } from "../send_unsupported.ts";

/** What a reply needs of the broker. */
export interface ReplyMessagePorts extends
  Pick<
    SendMessagePorts,
    "clock" | "groups" | "random" | "rebalanceLocks" | "storeHost" | "topics"
  > {
  readonly store: {
    putMessage(
      message: MessageExtBrokerInner,
    ): PutMessageResult | Promise<PutMessageResult>;
  };
  readonly stats: Pick<SendMessagePorts["stats"], "onPut">;
  readonly producers: {
    findClient(
      clientId: string,
    ): { readonly connection: RemotingConnection } | undefined;
  };
  readonly logger: Logger;
}

/** Keys of broker.conf that a reply reads. */
export interface ReplyMessageOptions {
  readonly brokerIP1: string;
  readonly brokerPermission: number;
  readonly regionId: string;
  readonly traceOn: boolean;
  readonly storeReplyMessageEnable: boolean;
}

/** Milliseconds that whoever asked has to take the reply. */
const PUSH_TIMEOUT_MS = 10_000;
/** As clients want to read an id, of a reply that was not stored. */
const NO_MSG_ID = "0";

/** Answers replies. */
export class ReplyMessageProcessor {
  readonly #ports: ReplyMessagePorts;
  readonly #topics: SendTopics;
  readonly #properties = new SendProperties();
  #options: ReplyMessageOptions;

  constructor(ports: ReplyMessagePorts, options: ReplyMessageOptions) {
    this.#ports = ports;
    this.#topics = new SendTopics(ports, options);
    this.#options = options;
  }

  reconfigure(options: ReplyMessageOptions): void {
    this.#options = options;
    this.#topics.reconfigure(options);
  }

  readonly process = async (
    context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const header = request.code === RequestCode.SEND_REPLY_MESSAGE
      ? decodeSendMessageRequestHeader(request.extFields)
      : decodeSendMessageRequestHeaderV2(request.extFields);
    const topic = this.#topics.check(context, header);
    if ("code" in topic) return this.#answer(topic.code, topic.remark);
    const fault = compressionFault(header.sysFlag);
    if (fault !== undefined) {
      return this.#answer(ResponseCode.MESSAGE_ILLEGAL, fault);
    }
    const queueId = header.queueId >= 0
      ? header.queueId
      : this.#ports.random.nextInt(Math.max(topic.writeQueueNums, 1));
    const push = this.#push(context, request, header);
    const put = this.#options.storeReplyMessageEnable
      ? this.#put(context, request, header, queueId)
      : undefined;
    const [refusal, stored] = await Promise.all([push, put]);
    const fields: ExtFields = {
      msgId: NO_MSG_ID,
      queueId: String(queueId),
      queueOffset: "0",
    };
    if (stored !== undefined && this.#isCounted(header, queueId, stored)) {
      fields.msgId = encodeMessageId(this.#ports.storeHost, stored.phyOffset);
      fields.queueOffset = String(stored.queueOffset);
    }
    return refusal === null
      ? this.#answer(ResponseCode.SUCCESS, null, fields)
      : this.#answer(ResponseCode.SYSTEM_ERROR, refusal, fields);
  };

  /** Null once the client has the reply, else why not. */
  async #push(
    context: RequestContext,
    request: RemotingCommand,
    header: SendMessageRequestHeader,
  ): Promise<string | null> {
    const properties = decodeProperties(header.properties);
    const clientId = properties.get(MessageConst.REPLY_TO_CLIENT);
    if (clientId === undefined) {
      return `reply message properties[${MessageConst.REPLY_TO_CLIENT}] is null: ` +
        "a reply names the client that waits for it";
    }
    const client = this.#ports.producers.findClient(clientId);
    if (client === undefined || !client.connection.isOpen) {
      return `push reply message fail, channel of <${shown(clientId)}> not ` +
        "found: the client is not connected to this broker";
    }
    const nowMs = this.#ports.clock.nowMs();
    properties.set(MessageConst.PUSH_REPLY_TIME, String(nowMs));
    const push = createRequest(
      RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT,
      encodeReplyMessageRequestHeader({
        sent: header,
        properties: encodeProperties(properties),
        bornHost: context.connection.remoteHost,
        storeHost: this.#ports.storeHost,
        storeTimestamp: nowMs,
      }),
      request.body,
    );
    return await this.#call(client.connection, push, clientId);
  }

  async #call(
    connection: RemotingConnection,
    push: RemotingCommand,
    clientId: string,
  ): Promise<string | null> {
    let reason: string | null;
    try {
      const answer = await connection.invoke(push, PUSH_TIMEOUT_MS);
      if (answer.code === ResponseCode.SUCCESS) return null;
      reason = answer.remark ?? `code ${answer.code}`;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      reason = error.message;
    }
    return `push reply message to ${shown(clientId)} fail: ${reason}`;
  }

  /** Rejects with nothing: what cannot be stored is a status. */
  #put(
    context: RequestContext,
    request: RemotingCommand,
    header: SendMessageRequestHeader,
    queueId: number,
  ): PutMessageResult | Promise<PutMessageResult> {
    const properties = this.#properties;
    properties.scan(header.properties);
    const { storeHost } = this.#ports;
    const bornHost = context.connection.remoteHost;
    return this.#ports.store.putMessage({
      topic: header.topic,
      queueId,
      flag: header.flag,
      sysFlag: sysFlagOf(header.sysFlag, bornHost.address, storeHost.address),
      body: request.body,
      bornTimestamp: header.bornTimestamp,
      bornHost,
      storeHost,
      reconsumeTimes: header.reconsumeTimes,
      preparedTransactionOffset: 0,
      propertiesText: properties.storedText(),
      tagsCode: properties.tagsCode,
      waitStoreMsgOk: properties.waitStoreMsgOk,
    });
  }

  /** Counts what was stored, and tells of what was not. */
  #isCounted(
    header: SendMessageRequestHeader,
    queueId: number,
    stored: PutMessageResult,
  ): boolean {
    const { clock, logger, stats } = this.#ports;
    if (!isStored(stored.status)) {
      logger.warn("a reply was not stored", {
        topic: header.topic,
        reason: remarkOfPut(stored.status, stored.reason) ?? stored.status,
      });
      return false;
    }
    const elapsedMs = Math.max(0, clock.nowMs() - stored.storeTimestamp);
    stats.onPut(
      header.topic,
      queueId,
      "normal",
      stored.messageCount,
      stored.size,
      elapsedMs,
    );
    return true;
  }

  /** Clients read the last two fields of every answer without a look. */
  #answer(
    code: number,
    remark: string | null,
    fields: ExtFields = {},
  ): RemotingCommand {
    return createResponse(code, remark, {
      ...fields,
      MSG_REGION: this.#options.regionId,
      TRACE_ON: String(this.#options.traceOn),
    });
  }
}

/** The compression bits that the replier set, and how long the addresses are. */
function sysFlagOf(
  sysFlag: number,
  bornAddress: Uint8Array,
  storeAddress: Uint8Array,
): number {
  const { BORNHOST_V6, COMPRESSED, COMPRESSION_TYPE_MASK } = MessageSysFlag;
  return sysFlag & (COMPRESSED | COMPRESSION_TYPE_MASK) |
    (bornAddress.length === 4 ? 0 : BORNHOST_V6) |
    (storeAddress.length === 4 ? 0 : MessageSysFlag.STOREHOSTADDRESS_V6);
}
