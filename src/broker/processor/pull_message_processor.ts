/**
 * PullMessageProcessor: PULL_MESSAGE (11) and LITE_PULL_MESSAGE (361), reference 9.
 *
 * Invariants
 * - A committed offset is stored before anything is read, and only on the first processing.
 * - A pull is held at most once; what wakes it reads anew and answers in any case.
 * - A slave never moves a reader.
 */
import { shown } from "../../base/shown.ts";
import type { Clock } from "../../io/clock.ts";
import type { Logger } from "../../io/logger.ts";
import {
  decodePullMessageRequestHeader,
  type PullMessageRequestHeader,
} from "../../protocol/header/pull_message_request_header.ts";
import { encodePullMessageResponseHeader } from "../../protocol/header/pull_message_response_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import { HELD, type RequestContext } from "../../remoting/request_processor.ts";
import type {
  GetMessageResult,
  MessageFilter,
} from "../../store/get_message_result.ts";
import {
  type AllowedPull,
  checkPull,
  type PullCheckOptions,
  type PullCheckPorts,
} from "../pull_check.ts";
import type { RefusedPull } from "../pull_refusal.ts";
import { PullSysFlag } from "../pull_subscription.ts";
import type { PullCounters } from "../broker_stats.ts";
import {
  codeOf,
  maySuggest,
  type PullReplication,
  type SlaveReadEnable,
} from "../pull_replication.ts";
import type { PullRequestHoldService } from "../pull_request_hold_service.ts";
import { movedTo, type ResetOffsets } from "../reset_offsets.ts";

/** What a pull needs of the store. */
export interface GetMessageStore {
  getMessage(request: {
    topic: string;
    queueId: number;
    offset: number;
    maxMsgNums: number;
    maxMsgBytes?: number;
    filter: MessageFilter | null;
  }): GetMessageResult | Promise<GetMessageResult>;
}

/** What a pull needs of the broker. */
export interface PullMessagePorts extends PullCheckPorts {
  readonly store: GetMessageStore;
  readonly offsets: {
    commitOffset(
      clientHost: string,
      group: string,
      topic: string,
      queueId: number,
      offset: number,
    ): unknown;
    commitPullOffset(
      clientHost: string,
      group: string,
      topic: string,
      queueId: number,
      offset: number,
    ): unknown;
  };
  readonly holdService: PullRequestHoldService;
  readonly resetOffsets: ResetOffsets;
  readonly replication: PullReplication;
  readonly counters: PullCounters;
  readonly stats: {
    onGet(
      topic: string,
      group: string,
      queueId: number,
      nums: number,
      bytes: number,
      elapsedMs: number,
    ): void;
  };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keys of broker.conf that a pull reads. */
export interface PullMessageOptions extends PullCheckOptions {
  readonly slaveReadEnable: SlaveReadEnable;
  readonly longPollingEnable: boolean;
  readonly shortPollingTimeMills: number;
  readonly pullRequestHoldMax: number;
}

const MASTER_ID = 0;

/** Answers pulls, now or when a message comes. */
export class PullMessageProcessor {
  readonly #ports: PullMessagePorts;
  #options: PullMessageOptions;

  constructor(ports: PullMessagePorts, options: PullMessageOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  reconfigure(options: PullMessageOptions): void {
    this.#options = options;
  }

  readonly process = (
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand | typeof HELD => {
    const { replication } = this.#ports;
    const isSlave = replication.isSlave();
    if (isSlave && this.#options.slaveReadEnable === "false") {
      return createResponse(
        ResponseCode.SYSTEM_BUSY,
        "[REJECTREQUEST] the slave broker does not support read requests, " +
          "slaveReadEnable is false",
      );
    }
    const header = decodePullMessageRequestHeader(request.extFields);
    if (isSlave) {
      const refused = this.#checkTopicOnSlave(header);
      if (refused !== undefined) return refused;
    }
    const isLite = request.code === RequestCode.LITE_PULL_MESSAGE ||
      (header.sysFlag & PullSysFlag.LITE_PULL_MESSAGE) !== 0;
    const checked = checkPull(this.#ports, this.#options, header, isLite);
    if ("code" in checked) return refuse(checked);
    const { consumerGroup, topic, queueId } = header;
    if (
      (header.sysFlag & PullSysFlag.COMMIT_OFFSET) !== 0 &&
      !this.#ports.resetOffsets.has(consumerGroup, topic, queueId)
    ) {
      this.#ports.offsets.commitOffset(
        context.connection.remoteAddress,
        consumerGroup,
        topic,
        queueId,
        header.commitOffset,
      );
    }
    const startedMs = this.#ports.clock.monotonicMs();
    const result = this.#read(header, checked.filter);
    if (!(result instanceof Promise)) {
      return this.#answerOrHold(context, header, checked, result, startedMs);
    }
    this.#respondLater(context, header, checked, result, startedMs, true);
    return HELD;
  };

  /** The topic may be on its way from the master: the reader is sent there until it has come. */
  #checkTopicOnSlave(
    header: PullMessageRequestHeader,
  ): RemotingCommand | undefined {
    const { topic, queueOffset } = header;
    const { replication, topics } = this.#ports;
    if (!replication.isMasterAlive()) return undefined;
    if (topics.selectTopicConfig(topic) !== undefined) return undefined;
    replication.onUnknownTopic(topic);
    return createResponse(
      ResponseCode.PULL_RETRY_IMMEDIATELY,
      "TOPIC_NOT_REPLICATED_YET",
      encodePullMessageResponseHeader({
        suggestWhichBrokerId: MASTER_ID,
        nextBeginOffset: queueOffset,
        minOffset: 0,
        maxOffset: 0,
        topicSysFlag: 0,
        groupSysFlag: 0,
      }),
    );
  }

  /** Answers once a cold read is there; such an answer may still be to wait for a message. */
  #respondLater(
    context: RequestContext,
    header: PullMessageRequestHeader,
    pull: AllowedPull,
    read: Promise<GetMessageResult>,
    startedMs: number,
    mayHold: boolean,
  ): void {
    read.then((result) => {
      const answer = mayHold
        ? this.#answerOrHold(context, header, pull, result, startedMs)
        : this.#answer(context, header, pull, result, startedMs);
      if (answer !== HELD) context.respond(answer);
    }).catch((error: unknown) => this.#fail(context, header, error));
  }

  #answerOrHold(
    context: RequestContext,
    header: PullMessageRequestHeader,
    pull: AllowedPull,
    result: GetMessageResult,
    startedMs: number,
  ): RemotingCommand | typeof HELD {
    const { replication } = this.#ports;
    const code = codeOf(result, header.queueOffset, replication);
    if (
      code !== ResponseCode.PULL_NOT_FOUND ||
      (header.sysFlag & PullSysFlag.SUSPEND) === 0
    ) {
      return this.#answer(context, header, pull, result, startedMs);
    }
    const holdMs = this.#options.longPollingEnable
      ? header.suspendTimeoutMillis
      : this.#options.shortPollingTimeMills;
    const isHeld = this.#ports.holdService.suspendPullRequest({
      topic: header.topic,
      queueId: header.queueId,
      pullFromThisOffset: header.queueOffset,
      deadlineMs: this.#ports.clock.monotonicMs() + holdMs,
      filter: pull.filter,
      connection: context.connection,
      wakeup: () => this.#wakeup(context, header, pull),
    });
    if (isHeld) return HELD;
    // Not 19: clients would pull again at once and without end.
    return createResponse(
      ResponseCode.SYSTEM_BUSY,
      `[OVERLOAD] ${this.#options.pullRequestHoldMax} pulls are held already ` +
        "(pullRequestHoldMax)",
    );
  }

  #wakeup(
    context: RequestContext,
    header: PullMessageRequestHeader,
    pull: AllowedPull,
  ): void {
    try {
      const startedMs = this.#ports.clock.monotonicMs();
      const result = this.#read(header, pull.filter);
      if (result instanceof Promise) {
        this.#respondLater(context, header, pull, result, startedMs, false);
      } else {
        context.respond(
          this.#answer(context, header, pull, result, startedMs),
        );
      }
    } catch (error) {
      this.#fail(context, header, error);
    }
  }

  #answer(
    context: RequestContext,
    header: PullMessageRequestHeader,
    pull: AllowedPull,
    result: GetMessageResult,
    startedMs: number,
  ): RemotingCommand {
    const { groupConfig, topicConfig } = pull;
    const { replication } = this.#ports;
    this.#count(header, result, startedMs);
    const code = codeOf(result, header.queueOffset, replication);
    const wanted = result.suggestPullingFromSlave
      ? groupConfig.whichBrokerWhenConsumeSlowly
      : groupConfig.brokerId;
    const suggestWhichBrokerId = wanted !== MASTER_ID &&
        maySuggest(wanted, this.#options.slaveReadEnable, replication)
      ? wanted
      : MASTER_ID;
    this.#ports.offsets.commitPullOffset(
      context.connection.remoteAddress,
      header.consumerGroup,
      header.topic,
      header.queueId,
      result.nextBeginOffset,
    );
    const response = createResponse(
      code,
      result.status,
      encodePullMessageResponseHeader({
        suggestWhichBrokerId,
        nextBeginOffset: result.nextBeginOffset,
        minOffset: result.minOffset,
        maxOffset: result.maxOffset,
        topicSysFlag: topicConfig.topicSysFlag,
        groupSysFlag: groupConfig.groupSysFlag,
      }),
      result.body,
    );
    response.onWritten = result.release;
    return response;
  }

  #count(
    { topic, consumerGroup, queueId }: PullMessageRequestHeader,
    { body, messageCount, status }: GetMessageResult,
    startedMs: number,
  ): void {
    const { clock, counters, stats } = this.#ports;
    const elapsedMs = Math.floor(clock.monotonicMs() - startedMs);
    if (elapsedMs > counters.timeMaxMs) counters.timeMaxMs = elapsedMs;
    if (status === "FOUND") {
      stats.onGet(
        topic,
        consumerGroup,
        queueId,
        messageCount,
        body.length,
        elapsedMs,
      );
      counters.foundTimes++;
      counters.transferredCount += messageCount;
      counters.transferredBytes += body.length;
    } else counters.missTimes++;
  }

  #fail(
    context: RequestContext,
    header: PullMessageRequestHeader,
    error: unknown,
  ): void {
    const { topic, queueId, queueOffset } = header;
    this.#ports.logger.error("Cannot read messages for a pull", {
      topic,
      queueId,
      queueOffset,
      error,
    });
    context.respond(createResponse(
      ResponseCode.SYSTEM_ERROR,
      `cannot read topic ${shown(topic)} queue ${queueId} at ${queueOffset}: ` +
        (error instanceof Error ? error.message : String(error)),
    ));
  }

  #read(
    header: PullMessageRequestHeader,
    filter: MessageFilter | null,
  ): GetMessageResult | Promise<GetMessageResult> {
    const { topic, queueId, maxMsgNums, maxMsgBytes } = header;
    const reset = this.#ports.resetOffsets.take(
      header.consumerGroup,
      topic,
      queueId,
    );
    if (reset !== undefined) return movedTo(reset);
    const request = {
      topic,
      queueId,
      offset: header.queueOffset,
      maxMsgNums,
      filter,
    };
    return this.#ports.store.getMessage(
      maxMsgBytes === undefined ? request : { ...request, maxMsgBytes },
    );
  }
}

function refuse(refused: RefusedPull): RemotingCommand {
  return createResponse(
    refused.code,
    refused.remark,
    refused.forbiddenType === undefined
      ? {}
      : { forbiddenType: String(refused.forbiddenType) },
  );
}
