/** BrokerOuterAPI: what a broker asks of name servers (reference 2.9, 10.2, 10.3). */
import { crc32 } from "../base/crc32.ts";
import type { DataVersion } from "../model/data_version.ts";
import type { TopicConfig } from "../model/topic_config.ts";
import { encodeDataVersion } from "../protocol/body/data_version_body.ts";
import { decodeKVTable } from "../protocol/body/kv_table.ts";
import { encodeRegisterBrokerBody } from "../protocol/body/register_broker_body.ts";
import { encodeBrokerIdentityHeader } from "../protocol/header/broker_identity_header.ts";
import { decodeQueryDataVersionResponseHeader } from "../protocol/header/query_data_version_header.ts";
import {
  decodeRegisterBrokerResponseHeader,
  encodeRegisterBrokerRequestHeader,
} from "../protocol/header/register_broker_header.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode, responseCodeName } from "../protocol/response_code.ts";

/**
 * How long a name server may take to answer a heartbeat or a question, in milliseconds.
 *
 * A request that gets no answer ends its connection, and with the last connection of a broker
 * name a 4.x name server forgets its topics, which it does not take from a slave: then the
 * readers of a dead master have no route. A pause of some seconds must not cost that.
 */
export const NAMESRV_PATIENCE_MS = 10_000;

/** What of RemotingClient is used. */
export interface OuterClient {
  invoke(
    address: string,
    request: RemotingCommand,
    timeoutMs: number,
  ): Promise<RemotingCommand>;
}

/** Who registers; all addresses are the advertised ones. */
export interface BrokerIdentity {
  readonly clusterName: string;
  readonly brokerName: string;
  readonly brokerAddr: string;
  readonly brokerId: number;
  readonly haServerAddr: string;
  /** Milliseconds of silence after which a name server may forget the broker. */
  readonly heartbeatTimeoutMillis: number;
}

/** What a name server answers to a registration. */
export interface RegisterBrokerResult {
  /** Whom a slave follows; undefined when no master lives, and for masters. */
  readonly masterAddr: string | undefined;
  readonly haServerAddr: string | undefined;
  /** ORDER_TOPIC_CONFIG: topic to `broker-a:4;…`. */
  readonly orderTopics: ReadonlyMap<string, string>;
}

/** A name server refused; the message names the code and its remark. */
export class NamesrvRefusalError extends Error {
  override readonly name = "NamesrvRefusalError";
  constructor(message: string, readonly code: number) {
    super(message);
  }
}

/** The body of a registration: the topics told, and the version of the whole table. */
export function registrationBody(
  topics: ReadonlyMap<string, TopicConfig>,
  dataVersion: DataVersion,
): Uint8Array {
  return encodeRegisterBrokerBody({
    topicConfigSerializeWrapper: { dataVersion, topicConfigTable: topics },
    filterServerList: [],
  });
}

/** Requests to name servers. */
export class BrokerOuterAPI {
  readonly #client: OuterClient;

  constructor(client: OuterClient) {
    this.#client = client;
  }

  /** 103. Rejects with `NamesrvRefusalError` or with the client's errors. */
  async registerBroker(
    namesrvAddr: string,
    identity: BrokerIdentity,
    body: Uint8Array,
    timeoutMs: number,
  ): Promise<RegisterBrokerResult> {
    const { brokerName, brokerAddr, clusterName, brokerId } = identity;
    const response = await this.#invoke(
      namesrvAddr,
      createRequest(
        RequestCode.REGISTER_BROKER,
        encodeRegisterBrokerRequestHeader({
          brokerName,
          brokerAddr,
          clusterName,
          haServerAddr: identity.haServerAddr,
          brokerId,
          compressed: false,
          bodyCrc32: crc32(body),
          heartbeatTimeoutMillis: identity.heartbeatTimeoutMillis,
          enableActingMaster: false,
          zoneName: undefined,
        }),
        body,
      ),
      timeoutMs,
    );
    return {
      ...decodeRegisterBrokerResponseHeader(response.extFields),
      orderTopics: response.body.length === 0
        ? new Map()
        : decodeKVTable(response.body),
    };
  }

  /** 104. */
  async unregisterBroker(
    namesrvAddr: string,
    identity: BrokerIdentity,
    timeoutMs: number,
  ): Promise<void> {
    await this.#invoke(
      namesrvAddr,
      createRequest(
        RequestCode.UNREGISTER_BROKER,
        encodeBrokerIdentityHeader(identity),
      ),
      timeoutMs,
    );
  }

  /** 904. False when the name server does not know it (4.x). */
  async sendHeartbeat(
    namesrvAddr: string,
    identity: BrokerIdentity,
    timeoutMs: number,
  ): Promise<boolean> {
    const response = await this.#client.invoke(
      namesrvAddr,
      createRequest(
        RequestCode.BROKER_HEARTBEAT,
        encodeBrokerIdentityHeader(identity),
      ),
      timeoutMs,
    );
    return response.code === ResponseCode.SUCCESS;
  }

  /** 322. True when the name server knows another version of the topics, or none. */
  async isDataVersionChanged(
    namesrvAddr: string,
    identity: BrokerIdentity,
    dataVersion: DataVersion,
    timeoutMs: number,
  ): Promise<boolean> {
    const response = await this.#invoke(
      namesrvAddr,
      createRequest(
        RequestCode.QUERY_DATA_VERSION,
        encodeBrokerIdentityHeader(identity),
        encodeDataVersion(dataVersion),
      ),
      timeoutMs,
    );
    return decodeQueryDataVersionResponseHeader(response.extFields).changed;
  }

  async #invoke(
    namesrvAddr: string,
    request: RemotingCommand,
    timeoutMs: number,
  ): Promise<RemotingCommand> {
    const response = await this.#client.invoke(namesrvAddr, request, timeoutMs);
    if (response.code === ResponseCode.SUCCESS) return response;
    throw new NamesrvRefusalError(
      `Name server ${namesrvAddr} answered request ${request.code} with ` +
        `${responseCodeName(response.code)}: ${response.remark ?? ""}`,
      response.code,
    );
  }
}
