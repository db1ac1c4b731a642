/**
 * ReplicatedStore: puts that tell the slaves, and under SYNC_MASTER wait for them.
 *
 * Invariants
 * - Slaves get what was put in the same turn, whatever the role and the flush.
 * - Under ASYNC_MASTER the store's answer is passed on as it is, synchronously.
 * - Flush and replication of a put run at the same time; if both fail, replication's status is
 *   the answer (reference 6.2).
 */
import type { Clock } from "../io/clock.ts";
import type {
  MessageExtBatch,
  MessageExtBrokerInner,
} from "../model/message_ext.ts";
import type { PutMessageResult } from "../store/put_message_result.ts";
import type { HAService } from "./ha_service.ts";

/** What is wrapped. */
export interface PutStore {
  readonly maxPhyOffset: number;
  putMessage(
    message: MessageExtBrokerInner,
  ): PutMessageResult | Promise<PutMessageResult>;
  putMessages(
    batch: MessageExtBatch,
  ): PutMessageResult | Promise<PutMessageResult>;
}

type PutResult = PutMessageResult | Promise<PutMessageResult>;

/** The store as senders see it. */
export class ReplicatedStore {
  /** SYNC_MASTER. */
  isSync = false;
  readonly #store: PutStore;
  readonly #service: HAService;
  readonly #clock: Clock;

  constructor(store: PutStore, service: HAService, clock: Clock) {
    this.#store = store;
    this.#service = service;
    this.#clock = clock;
  }

  putMessage(message: MessageExtBrokerInner): PutResult {
    if (!this.isSync) {
      const result = this.#store.putMessage(message);
      this.#service.onAppended();
      return result;
    }
    return this.#refusal() ??
      this.#replicated(this.#store.putMessage(message), message.waitStoreMsgOk);
  }

  putMessages(batch: MessageExtBatch): PutResult {
    if (!this.isSync) {
      const result = this.#store.putMessages(batch);
      this.#service.onAppended();
      return result;
    }
    return this.#refusal() ??
      this.#replicated(this.#store.putMessages(batch), batch.waitStoreMsgOk);
  }

  #refusal(): PutMessageResult | undefined {
    const reason = this.#service.refusalOfPut();
    return reason === null ? undefined : {
      status: "IN_SYNC_REPLICAS_NOT_ENOUGH",
      reason,
      phyOffset: -1,
      queueOffset: -1,
      size: 0,
      storeTimestamp: 0,
      messageCount: 0,
    };
  }

  /** Called in the turn of the put: the end of the log is the end of this message. */
  #replicated(result: PutResult, waits: boolean): PutResult {
    this.#service.onAppended();
    // A refusal is answered at once, and nothing of it is in the log.
    if (!(result instanceof Promise) && result.phyOffset < 0) return result;
    if (!waits) return result;
    const needed = this.#service.neededFor(this.#store.maxPhyOffset);
    if (needed.kind === "none") return result;
    if (needed.kind === "not-available") {
      const { reason } = needed;
      return result instanceof Promise
        ? result.then((it) => ({
          ...it,
          status: "SLAVE_NOT_AVAILABLE",
          reason,
        }))
        : { ...result, status: "SLAVE_NOT_AVAILABLE", reason };
    }
    const replicated = this.#wait(needed.ackNums);
    return result instanceof Promise
      ? Promise.all([result, replicated]).then(([it, isReplicated]) =>
        isReplicated ? it : this.#timedOut(it)
      )
      : replicated.then((isReplicated) =>
        isReplicated ? result : this.#timedOut(result)
      );
  }

  #wait(ackNums: number): Promise<boolean> {
    const nextOffset = this.#store.maxPhyOffset;
    const deadlineMs = this.#clock.monotonicMs() + this.#service.slaveTimeout;
    return new Promise((resolve) =>
      this.#service.groupTransferService.wait(
        nextOffset,
        ackNums,
        deadlineMs,
        (status) => resolve(status === "PUT_OK"),
      )
    );
  }

  #timedOut(result: PutMessageResult): PutMessageResult {
    return {
      ...result,
      status: "FLUSH_SLAVE_TIMEOUT",
      reason:
        "[FLUSH_SLAVE_TIMEOUT] the message is stored, but no slave confirmed it within " +
        `slaveTimeout=${this.#service.slaveTimeout} ms`,
    };
  }
}
