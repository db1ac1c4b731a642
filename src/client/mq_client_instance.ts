/** MQClientInstance: the connections, the name servers and the timer that the clients of a process share. */
import type { Clock, Timer } from "../io/clock.ts";
import type { Host } from "../io/host.ts";
import type { Logger } from "../io/logger.ts";
import type { Network } from "../io/network.ts";
import type { Random } from "../io/random.ts";
import type { HeartbeatData } from "../model/heartbeat_data.ts";
import { MessageClientIDSetter } from "../model/message_client_id_setter.ts";
import { parseIpAddress } from "../model/socket_address.ts";
import type { BrokerData } from "../protocol/body/topic_route_data.ts";
import { encodeHeartbeatData } from "../protocol/body/heartbeat_body.ts";
import { encodeUnregisterClientRequestHeader } from "../protocol/header/broker_admin_header.ts";
import {
  createRequest,
  createResponse,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { TlsSource } from "../remoting/entrance/tls_ports.ts";
import { RemotingClient } from "../remoting/remoting_client.ts";
import type { RequestProcessor } from "../remoting/request_processor.ts";
import { type ClientOptions, namesrvAddrsOf } from "./client_options.ts";
import { messageOf, refusedBy } from "./mq_client_error.ts";
import { NamesrvClient } from "./namesrv_client.ts";

/** What clients need from outside. */
export interface ClientPorts {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly host: Pick<Host, "pid" | "addresses">;
  /** Absent: connections are plain. */
  readonly clientTls?: TlsSource | undefined;
}

/** One producer or consumer of the instance. */
export interface ClientMember {
  /** Called every 100 ms. */
  tick(nowMs: number): void;
  /** The broker's word that the members of a consumer group changed. */
  onConsumerIdsChanged?(group: string): void;
  /** The broker's word that a group's offsets were reset (code 220). */
  onResetOffset?(request: RemotingCommand): void;
}

const TICK_MS = 100;
const LOOPBACK = "127.0.0.1";
const INSTANCE_ID_BOUND = 0x7fff_ffff;

/** Shared by the producers, consumers and administrators of one process. */
export class MQClientInstance {
  readonly ports: ClientPorts;
  readonly options: ClientOptions;
  /** `ip@pid#number`. */
  readonly clientId: string;
  readonly namesrv: NamesrvClient;
  readonly remotingClient: RemotingClient;
  readonly #uniqueIds: MessageClientIDSetter;
  readonly #members = new Set<ClientMember>();
  #timer: Timer | undefined;

  constructor(ports: ClientPorts, options: ClientOptions) {
    this.ports = ports;
    this.options = options;
    const ip =
      ports.host.addresses().find((it) => it.family === 4 && !it.isLoopback)
        ?.address ?? LOOPBACK;
    const unique = ports.random.nextInt(INSTANCE_ID_BOUND);
    this.clientId = `${ip}@${ports.host.pid}#${unique}`;
    this.remotingClient = new RemotingClient(
      ports,
      options.remoting,
      new Map<number, RequestProcessor>([
        [RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, (_, request) => {
          const group = request.extFields.consumerGroup ?? "";
          for (const it of this.#members) it.onConsumerIdsChanged?.(group);
          return createResponse(ResponseCode.SUCCESS);
        }],
        [RequestCode.RESET_CONSUMER_CLIENT_OFFSET, (_, request) => {
          for (const it of this.#members) it.onResetOffset?.(request);
          return createResponse(ResponseCode.SUCCESS);
        }],
      ]),
    );
    this.namesrv = new NamesrvClient(this.remotingClient, ports.clock, {
      namesrvAddrs: namesrvAddrsOf(options.namesrvAddr),
      timeoutMs: options.mqClientApiTimeout,
      routeAgeMaxMs: options.pollNameServerInterval,
    });
    this.#uniqueIds = new MessageClientIDSetter(
      parseIpAddress(ip)!,
      ports.host.pid,
      ports.random,
    );
  }

  /** Milliseconds that never go back. */
  nowMs(): number {
    return this.ports.clock.monotonicMs();
  }

  /** A new UNIQ_KEY. */
  createUniqID(): string {
    return this.#uniqueIds.createUniqID(this.ports.clock.nowMs());
  }

  start(): void {
    this.#timer ??= this.ports.clock.every(TICK_MS, () => this.#tick());
  }

  /** Closes every connection; stop producers and consumers first. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.remotingClient.close();
  }

  addMember(member: ClientMember): void {
    this.#members.add(member);
  }

  removeMember(member: ClientMember): void {
    this.#members.delete(member);
  }

  /** Sends a request and gives the answer, whatever its code. Rejects with a remoting error. */
  invoke(
    address: string,
    request: RemotingCommand,
    timeoutMs = this.options.mqClientApiTimeout,
  ): Promise<RemotingCommand> {
    return this.remotingClient.invoke(address, request, timeoutMs);
  }

  /** As `invoke`; an answer that is no success is thrown as `MQClientError`. */
  async invokeOk(
    address: string,
    request: RemotingCommand,
    timeoutMs = this.options.mqClientApiTimeout,
  ): Promise<RemotingCommand> {
    const response = await this.invoke(address, request, timeoutMs);
    if (response.code === ResponseCode.SUCCESS) return response;
    throw refusedBy(address, request.code, response);
  }

  /** Sends a heartbeat to each address; a broker that fails is only logged. */
  async heartbeat(
    data: Omit<HeartbeatData, "clientID">,
    addresses: Iterable<string>,
  ): Promise<void> {
    const body = encodeHeartbeatData({ ...data, clientID: this.clientId });
    await this.#sendEach(
      addresses,
      () => createRequest(RequestCode.HEART_BEAT, {}, body),
    );
  }

  /** Tells brokers that a group of this client is gone. */
  async unregister(
    group: { producerGroup?: string; consumerGroup?: string },
    addresses: Iterable<string>,
  ): Promise<void> {
    const fields = encodeUnregisterClientRequestHeader({
      clientID: this.clientId,
      producerGroup: group.producerGroup,
      consumerGroup: group.consumerGroup,
    });
    await this.#sendEach(
      addresses,
      () => createRequest(RequestCode.UNREGISTER_CLIENT, { ...fields }),
    );
  }

  async #sendEach(
    addresses: Iterable<string>,
    request: () => RemotingCommand,
  ): Promise<void> {
    await Promise.all([...addresses].map(async (address) => {
      try {
        await this.invokeOk(address, request());
      } catch (error) {
        this.ports.logger.debug(messageOf(error), { address });
      }
    }));
  }

  #tick(): void {
    this.remotingClient.tick(this.ports.clock.nowMs());
    const nowMs = this.nowMs();
    for (const member of this.#members) member.tick(nowMs);
  }
}

/** Any address of a broker name: the master's, else the smallest id's. */
export function anyAddressOf(data: BrokerData | undefined): string | undefined {
  if (data === undefined) return undefined;
  const master = data.brokerAddrs.get(0);
  if (master !== undefined) return master;
  const ids = [...data.brokerAddrs.keys()].sort((a, b) => a - b);
  return ids.length === 0 ? undefined : data.brokerAddrs.get(ids[0]!);
}
