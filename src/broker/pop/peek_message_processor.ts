/** PeekMessageProcessor: PEEK_MESSAGE (200052), what a POP would give, which nobody then has (reference 2.8). */
import type { Random } from "../../io/random.ts";
import {
  decodePeekMessageRequestHeader,
  encodePopMessageResponseHeader,
  type PeekMessageRequestHeader,
} from "../../protocol/header/pop_message_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { RequestContext } from "../../remoting/request_processor.ts";
import { POP_MESSAGES_MAX } from "./pop_names.ts";
import type { PopReader } from "./pop_records.ts";
import {
  checkPopQueue,
  type PopCheckOptions,
  type PopCheckPorts,
} from "./pop_request_check.ts";
import type { PopOffsets } from "./pop_revive_log.ts";

/** What the processor needs of the broker. */
export interface PeekMessagePorts extends PopCheckPorts {
  readonly reader: PopReader;
  readonly offsets: PopOffsets;
  readonly random: Random;
  /** Retry topics of a group. */
  retryTopics(topic: string, group: string): string[];
}

const RANDOM_BOUND = 100;

/** Answers 200052. */
export class PeekMessageProcessor {
  readonly #ports: PeekMessagePorts;
  readonly #options: () => PopCheckOptions;

  constructor(ports: PeekMessagePorts, options: () => PopCheckOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  readonly process = async (
    _context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const header = decodePeekMessageRequestHeader(request.extFields);
    const checked = checkPopQueue(
      this.#ports,
      this.#options(),
      header,
      "peeking",
    );
    if ("code" in checked) return createResponse(checked.code, checked.remark);
    const { maxMsgNums } = header;
    if (maxMsgNums < 1 || maxMsgNums > POP_MESSAGES_MAX) {
      return createResponse(
        ResponseCode.INVALID_PARAMETER,
        `maxMsgNums is ${maxMsgNums}, and must be 1 to ${POP_MESSAGES_MAX}`,
      );
    }
    const { bodies, restNum } = await this.#read(header);
    const found = bodies.length > 0;
    return createResponse(
      found ? ResponseCode.SUCCESS : ResponseCode.PULL_NOT_FOUND,
      found ? "FOUND" : "NO_MESSAGE_IN_QUEUE",
      encodePopMessageResponseHeader({
        popTime: 0,
        invisibleTime: 0,
        reviveQid: 0,
        restNum,
        startOffsetInfo: undefined,
        msgOffsetInfo: undefined,
        orderCountInfo: undefined,
      }),
      joined(bodies),
    );
  };

  async #read(header: PeekMessageRequestHeader) {
    const { offsets, reader } = this.#ports;
    const bodies: Uint8Array[] = [];
    let left = header.maxMsgNums;
    let restNum = 0;
    for (const [topic, queueId] of this.#places(header)) {
      const { consumerGroup } = header;
      const stored = offsets.queryOffset(consumerGroup, topic, queueId);
      const offset = stored >= 0
        ? stored
        : reader.getMinOffsetInQueue(topic, queueId);
      const max = reader.getMaxOffsetInQueue(topic, queueId);
      if (left === 0 || max <= offset) {
        restNum += Math.max(0, max - offset);
        continue;
      }
      const result = await reader.getMessage({
        topic,
        queueId,
        offset,
        maxMsgNums: left,
        filter: null,
      });
      if (result.status === "FOUND") {
        bodies.push(result.body.slice());
        left -= result.messageCount;
        result.release();
      }
      restNum += Math.max(0, result.maxOffset - result.nextBeginOffset);
    }
    return { bodies, restNum };
  }

  #places(
    { consumerGroup, queueId, topic }: PeekMessageRequestHeader,
  ): (readonly [string, number])[] {
    const chance = this.#ports.random.nextInt(RANDOM_BOUND);
    const all = (name: string) => {
      const config = this.#ports.topics.selectTopicConfig(name);
      const nums = config?.readQueueNums ?? 0;
      return Array.from(
        { length: nums },
        (_, at) => [name, (at + chance) % nums] as const,
      );
    };
    const retries = this.#ports.retryTopics(topic, consumerGroup).flatMap(all);
    return queueId >= 0
      ? [[topic, queueId], ...retries]
      : [...all(topic), ...retries];
  }
}

function joined(bodies: readonly Uint8Array[]): Uint8Array {
  const size = bodies.reduce((sum, it) => sum + it.length, 0);
  const all = new Uint8Array(size);
  let position = 0;
  for (const it of bodies) {
    all.set(it, position);
    position += it.length;
  }
  return all;
}
