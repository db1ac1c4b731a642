/**
 * MasterOffsetRecovery: a master that starts asks its slaves where groups
 * stand, before it tells anybody (DESIGN "Consumer offsets"). Groups may have
 * gone on reading from a slave while it was away.
 *
 * Positions and pulls wait for that, 5 s at most; then the broker serves with
 * what it has, and says why.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import { decodeClusterInfo } from "../protocol/body/cluster_info.ts";
import { createRequest } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { HELD, type RequestProcessor } from "../remoting/request_processor.ts";
import type { BrokerIdentity, OuterClient } from "./broker_outer_api.ts";
import type { ConsumerOffsetManager } from "./consumer_offset_manager.ts";

/** What it needs. */
export interface MasterOffsetRecoveryPorts {
  readonly client: OuterClient;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly topicConfigManager: {
    selectTopicConfig(topic: string): unknown;
  };
  readonly clock: Clock;
  readonly logger: Logger;
}

const RECOVERY_MS = 5_000;
const MASTER_ID = 0;

/** Asks once. */
export class MasterOffsetRecovery {
  readonly #ports: MasterOffsetRecoveryPorts;
  readonly #held: (() => void)[] = [];
  #deadlineMs = Infinity;
  #isDone = true;
  #reason: string | null = null;

  constructor(ports: MasterOffsetRecoveryPorts) {
    this.#ports = ports;
  }

  /** True while requests wait for the slaves. */
  get isRunning(): boolean {
    return !this.#isDone;
  }

  /** Why the slaves' positions are not here; null when they are, or there are none. */
  get reason(): string | null {
    return this.#reason;
  }

  /** Begins; `namesrvAddrs` empty: there is nobody to ask. */
  start(identity: BrokerIdentity, namesrvAddrs: readonly string[]): void {
    if (namesrvAddrs.length === 0) return;
    this.#isDone = false;
    this.#deadlineMs = this.#ports.clock.monotonicMs() + RECOVERY_MS;
    this.#recover(identity, namesrvAddrs).then(
      () => this.#finish(null),
      (error: unknown) =>
        this.#finish(error instanceof Error ? error.message : String(error)),
    );
  }

  /** Every 100 ms. */
  tick(): void {
    if (this.#isDone) return;
    if (this.#ports.clock.monotonicMs() < this.#deadlineMs) return;
    this.#finish(`The slaves did not answer within ${RECOVERY_MS} ms`);
  }

  /** Serves what waits with what there is. */
  stop(): void {
    if (!this.#isDone) this.#finish("The broker stops");
  }

  /** `processor`, once the slaves have answered. Requests have no body: nothing is to be owned. */
  wrap(processor: RequestProcessor): RequestProcessor {
    return (context, request) => {
      if (this.#isDone) return processor(context, request);
      this.#held.push(() => {
        const answer = processor(context, request);
        if (answer === HELD) return;
        if (!(answer instanceof Promise)) return context.respond(answer);
        answer.then(
          context.respond,
          (error: unknown) =>
            this.#ports.logger.error("A held request failed", { error }),
        );
      });
      return HELD;
    };
  }

  async #recover(
    identity: BrokerIdentity,
    namesrvAddrs: readonly string[],
  ): Promise<void> {
    const slaves = await this.#slavesOf(identity, namesrvAddrs);
    const merges = await Promise.allSettled(
      slaves.map((it) => this.#merge(it)),
    );
    for (const it of merges) if (it.status === "rejected") throw it.reason;
  }

  /** From the first name server that answers. */
  async #slavesOf(
    { brokerAddr, brokerName }: BrokerIdentity,
    namesrvAddrs: readonly string[],
  ): Promise<string[]> {
    const asked = namesrvAddrs.map(async (address) => {
      const response = await this.#ports.client.invoke(
        address,
        createRequest(RequestCode.GET_BROKER_CLUSTER_INFO),
        RECOVERY_MS,
      );
      const brokers = decodeClusterInfo(response.body).brokerAddrTable
        .get(brokerName)?.brokerAddrs ?? new Map<number, string>();
      // A name server may still show this broker in the place that it had as a slave.
      return [...brokers]
        .filter(([id, slave]) => id !== MASTER_ID && slave !== brokerAddr)
        .map(([, slave]) => slave);
    });
    try {
      return await Promise.any(asked);
    } catch {
      throw new Error("No name server says which slaves there are");
    }
  }

  async #merge(slave: string): Promise<void> {
    const { client, consumerOffsetManager, topicConfigManager } = this.#ports;
    const response = await client.invoke(
      slave,
      createRequest(RequestCode.GET_ALL_CONSUMER_OFFSET),
      RECOVERY_MS,
    );
    if (response.code !== ResponseCode.SUCCESS) {
      throw new Error(`Slave ${slave} answered ${response.code}`);
    }
    const { isChanged } = consumerOffsetManager.mergeForward(
      new TextDecoder().decode(response.body),
      (topic) => topicConfigManager.selectTopicConfig(topic) !== undefined,
    );
    this.#ports.logger.info(
      `The positions of slave ${slave} were ${
        isChanged ? "taken over" : "here already"
      }`,
      { slave },
    );
  }

  #finish(reason: string | null): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#reason = reason;
    if (reason !== null) {
      this.#ports.logger.warn(
        "This master serves positions without asking its slaves: " + reason,
      );
    }
    for (const run of this.#held.splice(0)) run();
  }
}
