/**
 * PopMessageProcessor: POP_MESSAGE (200050), NOTIFICATION (200054) and POLLING_INFO (200055),
 * reference 2.8.
 *
 * A POP takes from the queue that it names or from all of them, beginning anywhere, and from the
 * retry topic of the group: first with a probability of popFromRetryProbability, else last.
 */
import type { Clock } from "../../io/clock.ts";
import type { Logger } from "../../io/logger.ts";
import type { Random } from "../../io/random.ts";
import {
  decodePollingHeader,
  decodePopMessageRequestHeader,
  decodePopQueueHeader,
  type PollingHeader,
  type PopMessageRequestHeader,
} from "../../protocol/header/pop_message_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import { HELD, type RequestContext } from "../../remoting/request_processor.ts";
import type { MessageFilter } from "../../store/get_message_result.ts";
import { popRetryTopicOf } from "../../model/pop_retry_topic.ts";
import { POP_ORDER_REVIVE_QUEUE } from "./pop_names.ts";
import type { PopLongPollingService } from "./pop_long_polling_service.ts";
import type { PopOptions } from "./pop_options.ts";
import type { PopPosition } from "./pop_position.ts";
import type { PopQueues, PopWork } from "./pop_queues.ts";
import {
  checkPop,
  checkPopQueue,
  type PopCheckOptions,
  type PopCheckPorts,
  type PopRefusal,
} from "./pop_request_check.ts";
import { popResponseBody, popResponseFields } from "./pop_response.ts";
import type { PopReviveLog } from "./pop_revive_log.ts";

/** What the processor needs of the broker. */
export interface PopMessagePorts extends PopCheckPorts {
  readonly log: PopReviveLog;
  readonly queues: PopQueues;
  readonly position: PopPosition;
  readonly longPolling: PopLongPollingService;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly brokerName: string;
  /** Whether this broker may take messages now. */
  mayTake(): boolean;
}

/** Keys of broker.conf. */
export type PopMessageOptions = PopOptions & PopCheckOptions;

const RANDOM_BOUND = 100;

/** Answers requests of POP. */
export class PopMessageProcessor {
  readonly #ports: PopMessagePorts;
  readonly #options: () => PopMessageOptions;

  constructor(ports: PopMessagePorts, options: () => PopMessageOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** 200050. */
  readonly pop = (
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand | typeof HELD => {
    const header = decodePopMessageRequestHeader(request.extFields);
    const nowMs = this.#ports.clock.nowMs();
    const checked = checkPop(this.#ports, this.#options(), header, nowMs);
    if ("code" in checked) return refuse(checked);
    const deadlineMs = this.#deadlineMs(header);
    this.#run(
      context,
      () =>
        this.#pop(
          context,
          header,
          checked.filter,
          deadlineMs,
          header.pollTime > 0,
        ),
    );
    return HELD;
  };

  /** 200054. */
  readonly notification = (
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand | typeof HELD => {
    const header = decodePollingHeader(request.extFields);
    const checked = checkPopQueue(
      this.#ports,
      this.#options(),
      header,
      "peeking",
    );
    if ("code" in checked) return refuse(checked);
    const answer = (hasMsg: boolean, pollingFull = false) =>
      context.respond(createResponse(ResponseCode.SUCCESS, null, {
        hasMsg: String(hasMsg),
        pollingFull: String(pollingFull),
      }));
    this.#run(context, async () => {
      await this.#ports.log.load();
      if (header.pollTime <= 0 || this.hasMore(header)) {
        return answer(this.hasMore(header));
      }
      const isHeld = this.#ports.longPolling.polling({
        ...header,
        group: header.consumerGroup,
        deadlineMs: this.#deadlineMs(header),
        filter: null,
        connection: context.connection,
        wakeup: (isTimeout) => answer(!isTimeout || this.hasMore(header)),
      });
      if (!isHeld) answer(false, true);
    });
    return HELD;
  };

  /** 200055. */
  readonly pollingInfo = (
    _context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand => {
    const header = decodePopQueueHeader(
      request.extFields,
      "PollingInfoRequestHeader",
    );
    const checked = checkPopQueue(
      this.#ports,
      this.#options(),
      header,
      "peeking",
    );
    if ("code" in checked) return refuse(checked);
    const { consumerGroup, queueId, topic } = header;
    const { longPolling } = this.#ports;
    return createResponse(ResponseCode.SUCCESS, null, {
      pollingNum: String(longPolling.pollingNum(topic, consumerGroup, queueId)),
    });
  };

  /** True when the group would get something now. */
  hasMore(header: PollingHeader): boolean {
    const { consumerGroup } = header;
    const { position, queues } = this.#ports;
    return this.#places(header).some(([topic, queueId]) =>
      !queues.isLocked(topic, consumerGroup, queueId) &&
      queues.isOpen(topic, header, queueId) &&
      position.hasMore(topic, consumerGroup, queueId)
    );
  }

  /** Retry topics of a group that are looked at. */
  retryTopics(topic: string, group: string): string[] {
    const { enableRetryTopicV2, retrieveMessageFromPopRetryTopicV1 } = this
      .#options();
    const v1 = popRetryTopicOf(topic, group, false);
    if (!enableRetryTopicV2) return [v1];
    const v2 = popRetryTopicOf(topic, group, true);
    return retrieveMessageFromPopRetryTopicV1 ? [v2, v1] : [v2];
  }

  /** The queues that a request takes from, in any order. */
  #places(header: PollingHeader): (readonly [string, number])[] {
    const { consumerGroup, order, queueId, topic } = header;
    const places: (readonly [string, number])[] = queueId >= 0
      ? [[topic, queueId]]
      : this.#allQueues(topic);
    if (order) return places;
    const retries = this.retryTopics(topic, consumerGroup);
    return [...places, ...retries.flatMap((it) => this.#allQueues(it))];
  }

  #allQueues(topic: string): (readonly [string, number])[] {
    const config = this.#ports.topics.selectTopicConfig(topic);
    const nums = config?.readQueueNums ?? 0;
    return Array.from({ length: nums }, (_, queueId) => [topic, queueId]);
  }

  async #pop(
    context: RequestContext,
    header: PopMessageRequestHeader,
    filter: MessageFilter | null,
    deadlineMs: number,
    mayHold: boolean,
  ): Promise<void> {
    await this.#ports.log.load();
    const work = this.#newWork(header, filter);
    // The role is being changed, or the broker stops: the client asks again.
    if (!this.#ports.mayTake()) {
      return this.#respond(context, work, ResponseCode.POLLING_TIMEOUT);
    }
    for (const [topic, queueId] of this.#route(header)) {
      await this.#ports.queues.pop(work, topic, queueId);
    }
    if (work.takes.length === 0 && work.failure === null && mayHold) {
      return this.#hold(context, header, filter, deadlineMs, work);
    }
    this.#respond(context, work, ResponseCode.POLLING_TIMEOUT);
  }

  /** Queues in the order in which this request looks at them. */
  #route(header: PopMessageRequestHeader): (readonly [string, number])[] {
    const { consumerGroup, order, queueId, topic } = header;
    const chance = this.#ports.random.nextInt(RANDOM_BOUND);
    const own: (readonly [string, number])[] = queueId >= 0
      ? [[topic, queueId]]
      : rotated(this.#allQueues(topic), chance);
    if (order) return own;
    const retries = this.retryTopics(topic, consumerGroup)
      .flatMap((it) => rotated(this.#allQueues(it), chance));
    return chance < this.#options().popFromRetryProbability
      ? [...retries, ...own]
      : [...own, ...retries];
  }

  #newWork(
    header: PopMessageRequestHeader,
    filter: MessageFilter | null,
  ): PopWork {
    const { clock, log } = this.#ports;
    return {
      header,
      filter,
      popTime: clock.nowMs(),
      reviveQueueId: header.order ? POP_ORDER_REVIVE_QUEUE : log.takeQueueId(),
      takes: [],
      left: header.maxMsgNums,
      restNum: 0,
      failure: null,
    };
  }

  #hold(
    context: RequestContext,
    header: PopMessageRequestHeader,
    filter: MessageFilter | null,
    deadlineMs: number,
    work: PopWork,
  ): void {
    const { longPolling } = this.#ports;
    const isHeld = longPolling.polling({
      ...header,
      group: header.consumerGroup,
      deadlineMs,
      filter,
      connection: context.connection,
      wakeup: (isTimeout) =>
        this.#run(
          context,
          () => this.#pop(context, header, filter, deadlineMs, !isTimeout),
        ),
    });
    if (!isHeld) return this.#respond(context, work, ResponseCode.POLLING_FULL);
    // What came while the queues were read has announced itself already.
    if (this.hasMore(header)) {
      const { consumerGroup, queueId, topic } = header;
      longPolling.wakeOne(topic, consumerGroup, queueId);
    }
  }

  #respond(context: RequestContext, work: PopWork, emptyCode: number): void {
    const { failure, header, restNum, takes } = work;
    if (takes.length === 0) {
      context.respond(
        failure === null
          ? createResponse(
            emptyCode,
            "NO_MESSAGE_IN_QUEUE",
            popResponseFields(work),
          )
          : refuse(failure),
      );
      return;
    }
    context.respond(createResponse(
      ResponseCode.SUCCESS,
      "FOUND",
      popResponseFields(work),
      popResponseBody(
        work,
        this.#ports.brokerName,
        this.#options().popResponseReturnActualRetryTopic,
      ),
    ));
    const { consumerGroup, queueId, topic } = header;
    if (restNum > 0) {
      this.#ports.longPolling.wakeOne(topic, consumerGroup, queueId);
    }
  }

  /** By the client's clock where that is not ahead of ours. Monotonic. */
  #deadlineMs({ bornTime, pollTime }: PollingHeader): number {
    const { clock } = this.#ports;
    const leftMs = bornTime > 0
      ? Math.min(pollTime, bornTime + pollTime - clock.nowMs())
      : pollTime;
    return clock.monotonicMs() + Math.max(0, leftMs);
  }

  #run(context: RequestContext, work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      this.#ports.logger.error("Cannot answer a POP request", { error });
      const reason = error instanceof Error ? error.message : String(error);
      context.respond(createResponse(
        ResponseCode.SYSTEM_ERROR,
        `cannot pop: ${reason}`,
      ));
    });
  }
}

function rotated<T>(all: readonly T[], by: number): T[] {
  const start = all.length === 0 ? 0 : by % all.length;
  return [...all.slice(start), ...all.slice(0, start)];
}

function refuse({ code, remark }: PopRefusal): RemotingCommand {
  return createResponse(code, remark);
}
