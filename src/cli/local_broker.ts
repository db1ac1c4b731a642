/**
 * LocalBroker: changes asked for over HTTP go through the broker's own port, so that one set of
 * checks, codes and limits decides, whichever door a change comes in by.
 */
import { ProblemError, type ProblemStatus } from "../admin/problem.ts";
import type { Timer } from "../io/clock.ts";
import {
  createRequest,
  type ExtFields,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { RemotingClient } from "../remoting/remoting_client.ts";
import type { RunningBroker } from "./broker_server.ts";
import { hostPort, reachable } from "./host_port.ts";

const TIMEOUT_MS = 10_000;
const TICK_MS = 1_000;

/** Response codes that are the caller's business. */
const STATUS_BY_CODE: ReadonlyMap<number, ProblemStatus> = new Map<
  number,
  ProblemStatus
>([
  [ResponseCode.TOPIC_NOT_EXIST, 404],
  [ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, 404],
  [ResponseCode.MESSAGE_ILLEGAL, 400],
  [ResponseCode.INVALID_PARAMETER, 400],
  [ResponseCode.CONSUMER_NOT_ONLINE, 409],
  [ResponseCode.NO_PERMISSION, 403],
  [ResponseCode.SERVICE_NOT_AVAILABLE, 503],
  [ResponseCode.SYSTEM_BUSY, 503],
  [ResponseCode.REQUEST_CODE_NOT_SUPPORTED, 501],
]);

/** The broker of this process, asked over its port. */
export class LocalBroker {
  readonly #running: RunningBroker;
  #client: RemotingClient | undefined;
  #timer: Timer | undefined;

  constructor(running: RunningBroker) {
    this.#running = running;
  }

  /** Throws ProblemError unless the code is one of `accepted`. */
  async invoke(
    code: number,
    extFields: ExtFields,
    body?: Uint8Array,
    accepted: readonly number[] = [ResponseCode.SUCCESS],
  ): Promise<RemotingCommand> {
    const response = await this.#send(createRequest(code, extFields, body));
    if (accepted.includes(response.code)) return response;
    throw new ProblemError(
      STATUS_BY_CODE.get(response.code) ?? this.#otherStatus,
      response.remark || `The broker answered code ${response.code}`,
    );
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#client?.close();
  }

  /** Slaves and fenced masters refuse changes: there is another place for them. */
  get #otherStatus(): ProblemStatus {
    const { broker } = this.#running;
    const isReadOnly = broker.ha.role === "SLAVE" ||
      broker.fence.fencedReason !== null;
    return isReadOnly ? 409 : 500;
  }

  async #send(request: RemotingCommand): Promise<RemotingCommand> {
    const { broker } = this.#running;
    const { bindAddress, listenPort } = broker.options.broker;
    try {
      return await this.#open().invoke(
        hostPort(reachable(bindAddress), listenPort),
        request,
        TIMEOUT_MS,
      );
    } catch (error) {
      throw new ProblemError(503, "The broker does not answer", [], {
        cause: error,
      });
    }
  }

  /** Opened with the first change: most sites never change anything over HTTP. */
  #open(): RemotingClient {
    if (this.#client !== undefined) return this.#client;
    const { context, parts } = this.#running;
    const { clock, network } = context.runtime;
    const client = new RemotingClient(
      {
        network,
        clock,
        logger: parts.logger.child("admin"),
        clientTls: parts.tls.own,
      },
      parts.config.slices.remotingClient,
    );
    this.#timer = clock.every(TICK_MS, () => client.tick(clock.nowMs()));
    this.#client = client;
    return client;
  }
}
