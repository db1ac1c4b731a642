/** HAPeerInquiry: asks other brokers of this pair for their role, epoch and log; ours or Apache's. */
import { parseJavaProperties } from "../base/java_properties.ts";
import { decodeClusterInfo } from "../protocol/body/cluster_info.ts";
import {
  decodeHARole,
  type HARoleBody,
} from "../protocol/body/ha_role_body.ts";
import {
  decodeMetadataVersions,
  encodeMetadataVersions,
  isSameVersions,
  type MetadataVersions,
} from "../protocol/body/metadata_versions.ts";
import { PocketmqRequestCode } from "../protocol/pocketmq_request_code.ts";
import { createRequest } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { OuterClient } from "./broker_outer_api.ts";

/** What one broker says of itself. */
export interface HAPeerAnswer {
  readonly address: string;
  readonly role: string;
  readonly brokerName: string;
  readonly brokerId: number;
  /** 0 for an Apache broker, which knows none. */
  readonly epoch: number;
  /** Null for an Apache broker. */
  readonly maxOffset: number | null;
  /** Of its replication port; empty when it is not told. */
  readonly haAddress: string;
  /** Remoting addresses of the slaves that followed it since it started, and have not moved; none of an Apache broker. */
  readonly slaves: readonly string[];
  /** `promotion` or `demotion` while one is under way there; else empty. */
  readonly roleChange: string;
}

/** Long enough for a living broker, short enough for an operator. */
const TIMEOUT_MS = 1_500;

/** Asks over remoting. */
export class HAPeerInquiry {
  /** Addresses that answered, but not to this broker (code 16). */
  readonly refusing = new Set<string>();
  readonly #client: OuterClient;

  constructor(client: OuterClient) {
    this.#client = client;
  }

  /** Those of `addresses` that answer, asked side by side. Never rejects. */
  async ask(addresses: Iterable<string>): Promise<HAPeerAnswer[]> {
    const asked = [...new Set(addresses)].map((it) => this.askOne(it));
    const answers = await Promise.all(asked);
    return answers.filter((it) => it !== null);
  }

  /** Null when nobody answers there in time. Never rejects. */
  async askOne(address: string): Promise<HAPeerAnswer | null> {
    try {
      const { GET_HA_ROLE } = PocketmqRequestCode;
      const { body, code } = await this.#invoke(address, GET_HA_ROLE);
      if (code === ResponseCode.SUCCESS) {
        const role: HARoleBody = decodeHARole(body);
        return { address, ...role };
      }
      if (code === ResponseCode.NO_PERMISSION) this.refusing.add(address);
      return await this.#askApache(address);
    } catch {
      return null;
    }
  }

  /** Addresses by brokerId, over all name servers of the list that answer. Never rejects. */
  async members(
    namesrvAddrs: readonly string[],
    brokerName: string,
  ): Promise<ReadonlyMap<number, string>[]> {
    const asked = namesrvAddrs.map(async (address) => {
      try {
        const { body, code } = await this.#invoke(
          address,
          RequestCode.GET_BROKER_CLUSTER_INFO,
        );
        if (code !== ResponseCode.SUCCESS) return null;
        return decodeClusterInfo(body).brokerAddrTable.get(brokerName)
          ?.brokerAddrs ?? null;
      } catch {
        return null;
      }
    });
    return (await Promise.all(asked)).filter((it) => it !== null);
  }

  /** True when all tables there have the versions of `known`. Rejects when nobody answers. */
  async hasTables(address: string, known: MetadataVersions): Promise<boolean> {
    const request = createRequest(
      PocketmqRequestCode.WAIT_METADATA_CHANGE,
      { timeoutMillis: "0", readableBrokerId: "0" },
      encodeMetadataVersions(known),
    );
    const { body, code } = await this.#client.invoke(
      address,
      request,
      TIMEOUT_MS,
    );
    return code === ResponseCode.SUCCESS &&
      isSameVersions(decodeMetadataVersions(body), known);
  }

  async #askApache(address: string): Promise<HAPeerAnswer | null> {
    const { body, code } = await this.#invoke(
      address,
      RequestCode.GET_BROKER_CONFIG,
    );
    if (code !== ResponseCode.SUCCESS) return null;
    const config = parseJavaProperties(new TextDecoder().decode(body));
    return {
      address,
      role: config.get("brokerRole") ?? "",
      brokerName: config.get("brokerName") ?? "",
      brokerId: Number(config.get("brokerId") ?? "0"),
      epoch: 0,
      maxOffset: null,
      haAddress: "",
      slaves: [],
      roleChange: "",
    };
  }

  #invoke(address: string, code: number) {
    return this.#client.invoke(address, createRequest(code), TIMEOUT_MS);
  }
}
