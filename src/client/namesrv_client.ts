/**
 * NamesrvClient: asks one of several name servers, and remembers routes.
 *
 * Invariants
 * - A server that does not answer or is not ready is left for the next one; one that is silent
 *   after a second, and has the rest of its time only when no other one answers.
 * - While none is ready (no broker has registered since their start) they are asked again, for
 *   as long as one request may take.
 * - A server that was taken off the list is never asked again.
 */
import type { Clock } from "../io/clock.ts";
import {
  type ClusterInfo,
  decodeClusterInfo,
} from "../protocol/body/cluster_info.ts";
import {
  decodeTopicRouteData,
  type TopicRouteData,
} from "../protocol/body/topic_route_data.ts";
import { encodeGetRouteInfoRequestHeader } from "../protocol/header/get_route_info_header.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { RemotingTimeoutError } from "../remoting/remoting_errors.ts";
import {
  isNoAnswer,
  messageOf,
  MQClientError,
  refusedBy,
} from "./mq_client_error.ts";

/** Sends one request to one address. */
export interface RemotingInvoker {
  invoke(
    address: string,
    request: RemotingCommand,
    timeoutMs: number,
  ): Promise<RemotingCommand>;
}

/** Times in milliseconds. */
export interface NamesrvClientOptions {
  readonly namesrvAddrs: readonly string[];
  readonly timeoutMs: number;
  /** How long a route may be used. */
  readonly routeAgeMaxMs: number;
}

/** Routes kept at most; the oldest go first. */
const ROUTES_MAX = 100_000;

/** How long a silent server may keep those after it from being asked. */
const SILENCE_MS = 1_000;

/** Between two questions to name servers that are not ready. */
const NOT_READY_PAUSE_MS = 200;

/** The same topic is not asked for more often. */
const ASK_AGAIN_MS = 1_000;

interface CachedRoute {
  readonly route: TopicRouteData;
  /** When it came; -Infinity when it is not to be used without asking. */
  readonly atMs: number;
  readonly askAgainMs: number;
}

/** What one of several name servers answered to a request sent to all. */
export interface NamesrvAnswer {
  readonly address: string;
  /** Undefined when there was none. */
  readonly response: RemotingCommand | undefined;
  readonly error: unknown;
}

/** The name servers of one client. */
export class NamesrvClient {
  readonly #invoker: RemotingInvoker;
  readonly #clock: Clock;
  readonly #options: NamesrvClientOptions;
  #addresses: readonly string[];
  /** The server that answered last. */
  #current: string | undefined;
  readonly #routes = new Map<string, CachedRoute>();
  readonly #asking = new Map<string, Promise<TopicRouteData | undefined>>();

  constructor(
    invoker: RemotingInvoker,
    clock: Clock,
    options: NamesrvClientOptions,
  ) {
    this.#invoker = invoker;
    this.#clock = clock;
    this.#options = options;
    this.#addresses = options.namesrvAddrs;
  }

  get addresses(): readonly string[] {
    return this.#addresses;
  }

  updateNameServerAddressList(addresses: readonly string[]): void {
    this.#addresses = addresses;
    if (!addresses.includes(this.#current ?? "")) this.#current = undefined;
  }

  /**
   * The route of a topic. One that is older than `routeAgeMaxMs` is still given
   * while a new one is asked for; undefined when no name server knows or knew
   * the topic. Throws `MQClientError` when there is none and nobody answers.
   */
  route(topic: string): Promise<TopicRouteData | undefined> {
    const cached = this.#routes.get(topic);
    if (cached === undefined) return this.refreshRoute(topic);
    const ageMs = this.#clock.monotonicMs() - cached.atMs;
    if (ageMs < this.#options.routeAgeMaxMs) {
      return Promise.resolve(cached.route);
    }
    // Brokers may well live without a name server, or one that restarted.
    const refreshed = this.refreshRoute(topic).then(
      (it) => it ?? cached.route,
      () => cached.route,
    );
    return ageMs === Infinity ? refreshed : Promise.resolve(cached.route);
  }

  /** Asks now; undefined when the topic is unknown. Throws `MQClientError`. */
  refreshRoute(topic: string): Promise<TopicRouteData | undefined> {
    const running = this.#asking.get(topic);
    if (running !== undefined) return running;
    const asking = this.#askRoute(topic).finally(() =>
      this.#asking.delete(topic)
    );
    this.#asking.set(topic, asking);
    return asking;
  }

  /** The next `route` waits for a new one: the old one led nowhere. */
  expireRoute(topic: string): void {
    const cached = this.#routes.get(topic);
    const nowMs = this.#clock.monotonicMs();
    if (cached !== undefined && nowMs >= cached.askAgainMs) {
      this.#routes.set(topic, { ...cached, atMs: -Infinity });
    }
  }

  /** All brokers. Throws `MQClientError`. */
  async clusterInfo(): Promise<ClusterInfo> {
    const request = createRequest(RequestCode.GET_BROKER_CLUSTER_INFO);
    return decodeClusterInfo((await this.invokeOk(request)).body);
  }

  /** As `clusterInfo`, but waits a moment for the first broker. */
  async clusterInfoWithBrokers(): Promise<ClusterInfo> {
    return await this.#untilReady(
      () => this.clusterInfo(),
      (it) => it.brokerAddrTable.size > 0,
    );
  }

  /** The answer of the first server that gives one. Throws `MQClientError`. */
  async invoke(request: RemotingCommand): Promise<RemotingCommand> {
    const { response } = await this.#invokeFirst(request, () => true);
    return response;
  }

  /** As `invoke`; an answer that is no success is thrown. */
  async invokeOk(request: RemotingCommand): Promise<RemotingCommand> {
    const it = await this.#invokeFirst(request, () => true);
    if (it.response.code === ResponseCode.SUCCESS) return it.response;
    throw refused(it.address, request, it.response);
  }

  /** Sends to every server at once, one answer for each. */
  invokeAll(request: RemotingCommand): Promise<NamesrvAnswer[]> {
    return Promise.all(this.#addresses.map(async (address) => {
      try {
        const response = await this.#invokeOne(address, request);
        return { address, response, error: undefined };
      } catch (error) {
        return { address, response: undefined, error };
      }
    }));
  }

  /** As `invokeAll`; throws unless every server succeeded. */
  async invokeAllOk(request: RemotingCommand): Promise<RemotingCommand[]> {
    if (this.#addresses.length === 0) throw noAddress();
    const answers = await this.invokeAll(request);
    return answers.map(({ address, response, error }) => {
      if (response === undefined) {
        throw new MQClientError(messageOf(error), null, null, address, {
          cause: error,
        });
      }
      if (response.code === ResponseCode.SUCCESS) return response;
      throw refused(address, request, response);
    });
  }

  async #askRoute(topic: string): Promise<TopicRouteData | undefined> {
    const request = createRequest(
      RequestCode.GET_ROUTEINFO_BY_TOPIC,
      encodeGetRouteInfoRequestHeader(topic),
    );
    // A route that was known stays in use: nobody has to wait for a better one.
    const isKnown = this.#routes.has(topic);
    try {
      const { address, response } = await this.#untilReady(
        () => this.#invokeFirst(request, isRouteAnswer),
        (it) => isKnown || isRouteAnswer(it.response),
      );
      if (response.code === ResponseCode.SUCCESS) {
        const route = decodeTopicRouteData(response.body);
        this.#remember(topic, route);
        return route;
      }
      if (response.code !== ResponseCode.TOPIC_NOT_EXIST) {
        throw refused(address, request, response);
      }
    } catch (error) {
      this.#postpone(topic);
      throw error;
    }
    this.#postpone(topic);
    return undefined;
  }

  #remember(topic: string, route: TopicRouteData): void {
    const atMs = this.#clock.monotonicMs();
    this.#routes.delete(topic);
    this.#routes.set(topic, { route, atMs, askAgainMs: atMs + ASK_AGAIN_MS });
    if (this.#routes.size <= ROUTES_MAX) return;
    const [oldest] = this.#routes.keys();
    this.#routes.delete(oldest!);
  }

  /** An old route stays in use for a moment before the next question. */
  #postpone(topic: string): void {
    const cached = this.#routes.get(topic);
    if (cached === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    this.#routes.set(topic, {
      route: cached.route,
      atMs: nowMs - this.#options.routeAgeMaxMs + ASK_AGAIN_MS,
      askAgainMs: nowMs + ASK_AGAIN_MS,
    });
  }

  /** Asks until the answer is a ready server's, or the time of one request is over. */
  async #untilReady<T>(
    ask: () => Promise<T>,
    isReady: (answer: T) => boolean,
  ): Promise<T> {
    const deadlineMs = this.#clock.monotonicMs() + this.#options.timeoutMs;
    for (;;) {
      const answer = await ask();
      const nextMs = this.#clock.monotonicMs() + NOT_READY_PAUSE_MS;
      if (isReady(answer) || nextMs > deadlineMs) return answer;
      await new Promise<void>((resolve) =>
        this.#clock.after(NOT_READY_PAUSE_MS, resolve)
      );
    }
  }

  /** Tries the servers from the current one on until one gives a wanted answer; else the last answer. */
  async #invokeFirst(
    request: RemotingCommand,
    isWanted: (response: RemotingCommand) => boolean,
  ): Promise<{ address: string; response: RemotingCommand }> {
    const addresses = this.#addresses;
    if (addresses.length === 0) throw noAddress();
    const start = Math.max(0, addresses.indexOf(this.#current ?? ""));
    const { timeoutMs } = this.#options;
    const silent: string[] = [];
    let last: { address: string; response: RemotingCommand } | undefined;
    let failure: unknown;
    const ask = async (address: string, patienceMs: number) => {
      try {
        const response = await this.#invokeOne(address, request, patienceMs);
        last = { address, response };
        return isWanted(response);
      } catch (error) {
        if (!isNoAnswer(error)) throw error;
        failure = error;
        if (error instanceof RemotingTimeoutError) silent.push(address);
        return false;
      }
    };
    const isAlone = addresses.length === 1;
    const patienceMs = isAlone ? timeoutMs : Math.min(SILENCE_MS, timeoutMs);
    for (
      const it of [...addresses.slice(start), ...addresses.slice(0, start)]
    ) {
      if (!await ask(it, patienceMs)) continue;
      this.#current = it;
      return last!;
    }
    const leftMs = timeoutMs - patienceMs;
    for (const it of [...silent]) {
      if (last !== undefined || leftMs === 0) break;
      if (await ask(it, leftMs)) this.#current = it;
    }
    if (last !== undefined) return last;
    throw new MQClientError(
      `No name server of ${addresses.join(";")} answers: ${
        messageOf(failure)
      }; ` +
        "start one there, or name another",
      null,
      null,
      null,
      { cause: failure },
    );
  }

  /** A command belongs to one connection once it is sent, so each server gets its own. */
  #invokeOne(
    address: string,
    request: RemotingCommand,
    timeoutMs = this.#options.timeoutMs,
  ): Promise<RemotingCommand> {
    return this.#invoker.invoke(address, { ...request }, timeoutMs);
  }
}

function refused(
  address: string,
  request: RemotingCommand,
  response: RemotingCommand,
): MQClientError {
  const isBroker = response.code === ResponseCode.REQUEST_CODE_NOT_SUPPORTED;
  const cure = isBroker ? "give the address of a name server" : "";
  return refusedBy(address, request.code, response, cure);
}

/** Code 1 means "not ready": another server may know the topic. */
function isRouteAnswer(response: RemotingCommand): boolean {
  return response.code !== ResponseCode.SYSTEM_ERROR;
}

function noAddress(): MQClientError {
  return new MQClientError(
    "No name server address is given: set namesrvAddr or --namesrv",
    null,
  );
}
