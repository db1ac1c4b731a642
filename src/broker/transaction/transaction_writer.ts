/** TransactionWriter: puts what settles half messages. */
import type { Clock } from "../../io/clock.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../../model/message_ext.ts";
import type { SocketAddress } from "../../model/socket_address.ts";
import { PermName } from "../../model/topic_config.ts";
import { TopicNames } from "../../model/topic_names.ts";
import type { PutMessageResult } from "../../store/put_message_result.ts";
import { isStored } from "../put_response.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";
import { discardedHalfOf, opMessageOf } from "./half_message.ts";
import type { TransactionTable } from "./transaction_table.ts";

const READ_WRITE = PermName.READ | PermName.WRITE;

/** What it needs of the broker. */
export interface TransactionWriterPorts {
  readonly store: {
    putMessage(
      message: MessageExtBrokerInner,
    ): PutMessageResult | Promise<PutMessageResult>;
  };
  readonly topics: Pick<
    TopicConfigManager,
    "createTopicInSendMessageBackMethod" | "selectTopicConfig"
  >;
  readonly clock: Clock;
  readonly storeHost: SocketAddress;
  readonly uniqIds: { createUniqID(nowMs: number): string };
}

/** Writes for one broker. */
export class TransactionWriter {
  readonly #ports: TransactionWriterPorts;

  constructor(ports: TransactionWriterPorts) {
    this.#ports = ports;
  }

  /** Nobody waits for flush or slaves: the messages say so. */
  async put(message: MessageExtBrokerInner): Promise<PutMessageResult> {
    return await this.#ports.store.putMessage(message);
  }

  /** The op message of `original`, and the table knows it. */
  async putOp(
    table: TransactionTable,
    original: number,
    isGivenUp = false,
  ): Promise<PutMessageResult> {
    const { clock, storeHost, uniqIds } = this.#ports;
    const nowMs = clock.nowMs();
    const uniqKey = uniqIds.createUniqID(nowMs);
    const op = await this.put(
      opMessageOf(original, uniqKey, storeHost, nowMs, isGivenUp),
    );
    if (isStored(op.status)) {
      table.onOp(op.queueOffset, [original], isGivenUp);
    }
    return op;
  }

  /** True once it is stored in the topic for operators. */
  async putAside(half: MessageExt): Promise<boolean> {
    this.#ports.topics.createTopicInSendMessageBackMethod(
      TopicNames.RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
      1,
      READ_WRITE,
      0,
    );
    return isStored((await this.put(discardedHalfOf(half))).status);
  }
}
