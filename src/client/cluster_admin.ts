/** ClusterAdmin: brokers, name servers, their configuration and KV entries. */
import {
  formatJavaProperties,
  parseJavaProperties,
} from "../base/java_properties.ts";
import type { ClusterInfo } from "../protocol/body/cluster_info.ts";
import { decodeJson } from "../protocol/body/json_fields.ts";
import { decodeKVTable } from "../protocol/body/kv_table.ts";
import { decodeGetKVConfigResponseHeader } from "../protocol/header/kv_config_header.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { messageOf, refusedBy } from "./mq_client_error.ts";
import type { MQClientInstance } from "./mq_client_instance.ts";

/** One broker of the cluster list. */
export interface BrokerRow {
  readonly clusterName: string;
  readonly brokerName: string;
  readonly brokerId: number;
  readonly brokerAddr: string;
  /** The table of code 28; empty when the broker did not answer. */
  readonly runtimeInfo: ReadonlyMap<string, string>;
  /** Why it did not answer; null when it did. */
  readonly error: string | null;
}

/** What became of a change of a broker's configuration. */
export interface ConfigUpdate {
  /** One sentence, as that a key needs a restart; null when there is nothing to say. */
  readonly remark: string | null;
  /** Keys that are as they were and will be, as `a, b`; empty: there are none. */
  readonly notSet: string;
}

/** Looks at and configures brokers and name servers. */
export class ClusterAdmin {
  readonly #instance: MQClientInstance;

  constructor(instance: MQClientInstance) {
    this.#instance = instance;
  }

  /** All broker names. Throws `MQClientError`, as all methods here. */
  info(): Promise<ClusterInfo> {
    return this.#instance.namesrv.clusterInfo();
  }

  /** Every broker with what it says of itself, sorted. */
  async list(): Promise<BrokerRow[]> {
    const { brokerAddrTable } = await this.info();
    const brokers = [...brokerAddrTable.values()].flatMap((data) =>
      [...data.brokerAddrs].map(([brokerId, brokerAddr]) => ({
        clusterName: data.cluster,
        brokerName: data.brokerName,
        brokerId,
        brokerAddr,
      }))
    );
    const rows = await Promise.all(
      brokers.map(async (it): Promise<BrokerRow> => {
        try {
          const runtimeInfo = await this.runtimeInfo(it.brokerAddr);
          return { ...it, runtimeInfo, error: null };
        } catch (error) {
          return { ...it, runtimeInfo: new Map(), error: messageOf(error) };
        }
      }),
    );
    const keyOf = (it: BrokerRow) => `${it.clusterName} ${it.brokerName}`;
    return rows.sort((a, b) =>
      keyOf(a) < keyOf(b)
        ? -1
        : keyOf(a) > keyOf(b)
        ? 1
        : a.brokerId - b.brokerId
    );
  }

  async runtimeInfo(brokerAddr: string): Promise<Map<string, string>> {
    const code = RequestCode.GET_BROKER_RUNTIME_INFO;
    return decodeKVTable((await this.#ask(brokerAddr, code)).body);
  }

  /** HARuntimeInfo as the broker answers it (code 907). */
  async haStatus(brokerAddr: string): Promise<unknown> {
    const code = RequestCode.GET_BROKER_HA_STATUS;
    const { body } = await this.#ask(brokerAddr, code);
    return decodeJson(body, "HARuntimeInfo");
  }

  async config(brokerAddr: string): Promise<Map<string, string>> {
    return propertiesOf(
      await this.#ask(brokerAddr, RequestCode.GET_BROKER_CONFIG),
    );
  }

  /** What the broker has to say of a change, and what it did not change. */
  async updateConfig(
    brokerAddr: string,
    changes: ReadonlyMap<string, string>,
  ): Promise<ConfigUpdate> {
    const code = RequestCode.UPDATE_BROKER_CONFIG;
    const { extFields, remark } = await this.#ask(
      brokerAddr,
      code,
      bodyOf(changes),
    );
    const told = extFields.notSet;
    return {
      remark: remark === "" ? null : remark,
      notSet: told ?? await this.#missingAt(brokerAddr, changes),
    };
  }

  /** Apache's brokers take keys that they do not know without a word. */
  async #missingAt(
    brokerAddr: string,
    changes: ReadonlyMap<string, string>,
  ): Promise<string> {
    const config = await this.config(brokerAddr);
    return [...changes.keys()].filter((it) => !config.has(it)).join(", ");
  }

  /** The configuration of one name server. */
  async namesrvConfig(): Promise<Map<string, string>> {
    const request = createRequest(RequestCode.GET_NAMESRV_CONFIG);
    return propertiesOf(await this.#instance.namesrv.invokeOk(request));
  }

  /** On every name server, as all changes below. */
  async updateNamesrvConfig(
    changes: ReadonlyMap<string, string>,
  ): Promise<void> {
    await this.#instance.namesrv.invokeAllOk(
      createRequest(
        RequestCode.UPDATE_NAMESRV_CONFIG,
        {},
        bodyOf(changes),
      ),
    );
  }

  /** Takes the write bit from all topics of a broker name; returns how many. */
  wipeWritePerm(brokerName: string): Promise<number> {
    const code = RequestCode.WIPE_WRITE_PERM_OF_BROKER;
    return this.#changePerm(code, brokerName, "wipeTopicCount");
  }

  /** Gives it back. */
  addWritePerm(brokerName: string): Promise<number> {
    const code = RequestCode.ADD_WRITE_PERM_OF_BROKER;
    return this.#changePerm(code, brokerName, "addTopicCount");
  }

  /** A KV entry; undefined when there is none. */
  async getKV(namespace: string, key: string): Promise<string | undefined> {
    const request = createRequest(RequestCode.GET_KV_CONFIG, {
      namespace,
      key,
    });
    const response = await this.#instance.namesrv.invoke(request);
    if (response.code === ResponseCode.QUERY_NOT_FOUND) return undefined;
    if (response.code !== ResponseCode.SUCCESS) {
      throw refusedBy("The name server", request.code, response);
    }
    return decodeGetKVConfigResponseHeader(response.extFields).value;
  }

  async putKV(namespace: string, key: string, value: string): Promise<void> {
    await this.#instance.namesrv.invokeAllOk(
      createRequest(RequestCode.PUT_KV_CONFIG, { namespace, key, value }),
    );
  }

  async deleteKV(namespace: string, key: string): Promise<void> {
    await this.#instance.namesrv.invokeAllOk(
      createRequest(RequestCode.DELETE_KV_CONFIG, { namespace, key }),
    );
  }

  /** The entries of a namespace; empty when there are none. */
  async listKV(namespace: string): Promise<Map<string, string>> {
    const request = createRequest(RequestCode.GET_KVLIST_BY_NAMESPACE, {
      namespace,
    });
    const response = await this.#instance.namesrv.invoke(request);
    if (response.code === ResponseCode.QUERY_NOT_FOUND) return new Map();
    if (response.code !== ResponseCode.SUCCESS) {
      throw refusedBy("The name server", request.code, response);
    }
    return decodeKVTable(response.body);
  }

  #ask(
    brokerAddr: string,
    code: number,
    body?: Uint8Array,
  ): Promise<RemotingCommand> {
    return this.#instance.invokeOk(brokerAddr, createRequest(code, {}, body));
  }

  async #changePerm(
    code: number,
    brokerName: string,
    field: string,
  ): Promise<number> {
    const answers = await this.#instance.namesrv.invokeAllOk(
      createRequest(code, { brokerName }),
    );
    return Number(answers[0]?.extFields[field] ?? 0);
  }
}

function propertiesOf(response: RemotingCommand): Map<string, string> {
  return parseJavaProperties(new TextDecoder().decode(response.body));
}

function bodyOf(changes: ReadonlyMap<string, string>): Uint8Array {
  return new TextEncoder().encode(formatJavaProperties(changes));
}
