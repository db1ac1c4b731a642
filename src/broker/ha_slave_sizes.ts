/**
 * HASlaveSizes: looks whether the slaves of this master have its file size (DESIGN decision 7).
 *
 * A classic slave says nothing but an offset, and one with another mappedFileSizeCommitLog
 * misplaces bytes silently. So its master finds it in the name servers and asks it (26). Slaves
 * are told apart by their host; against a slave that nobody knows there is nothing to say.
 */
import { parseJavaProperties } from "../base/java_properties.ts";
import type { Clock } from "../io/clock.ts";
import { decodeClusterInfo } from "../protocol/body/cluster_info.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { BrokerIdentity } from "./broker_outer_api.ts";

/** What it needs. */
export interface HASlaveSizesPorts {
  readonly client: {
    invoke(
      address: string,
      request: RemotingCommand,
      timeoutMs: number,
    ): Promise<RemotingCommand>;
  };
  readonly clock: Clock;
  readonly identity: BrokerIdentity;
  /** Those in force now. */
  namesrvAddrs(): readonly string[];
  /** mappedFileSizeCommitLog of this broker. */
  mappedFileSize(): number;
}

/** One slave as it describes itself. */
interface SlaveSize {
  readonly address: string;
  readonly mappedFileSize: number;
}

const TIMEOUT_MS = 1_000;
/** Junk connections must not make a request each. */
const KEPT_MS = 1_000;
const SIZE_KEY = "mappedFileSizeCommitLog";

/** Asks and remembers for a moment. */
export class HASlaveSizes {
  readonly #ports: HASlaveSizesPorts;
  #known: Promise<readonly SlaveSize[]> | null = null;
  #askedMs = 0;

  constructor(ports: HASlaveSizesPorts) {
    this.#ports = ports;
  }

  /** Why the slave that connects from `addr` must not be served; null when it may. */
  admit(addr: string): string | null | Promise<string | null> {
    if (this.#ports.namesrvAddrs().length === 0) return null;
    const nowMs = this.#ports.clock.monotonicMs();
    if (this.#known === null || nowMs - this.#askedMs >= KEPT_MS) {
      this.#askedMs = nowMs;
      this.#known = this.#ask();
    }
    return this.#known.then((slaves) => this.#refusal(hostOf(addr), slaves));
  }

  #refusal(host: string, slaves: readonly SlaveSize[]): string | null {
    const own = this.#ports.mappedFileSize();
    const there = slaves.filter((it) => hostOf(it.address) === host);
    const suspects = there.length > 0 ? there : slaves;
    const [first] = suspects;
    if (first === undefined) return null;
    if (suspects.some((it) => it.mappedFileSize === own)) return null;
    return `${SIZE_KEY} is ${own} here and ${first.mappedFileSize} at the slave ${first.address}: ` +
      `start the slave with an empty store and ${SIZE_KEY}=${own}`;
  }

  async #ask(): Promise<readonly SlaveSize[]> {
    const namesrvs = this.#ports.namesrvAddrs();
    const found = await Promise.all(namesrvs.map((it) => this.#slavesAt(it)));
    const addresses = [...new Set(found.flat())];
    const sizes = await Promise.all(addresses.map((it) => this.#sizeOf(it)));
    return sizes.flat();
  }

  async #slavesAt(namesrv: string): Promise<string[]> {
    const { brokerId, brokerName } = this.#ports.identity;
    const code = RequestCode.GET_BROKER_CLUSTER_INFO;
    const body = await this.#body(namesrv, code);
    if (body === null) return [];
    const brokers = decodeClusterInfo(body).brokerAddrTable.get(brokerName);
    return [...brokers?.brokerAddrs ?? []]
      .filter(([id]) => id !== brokerId && id !== 0)
      .map(([, address]) => address);
  }

  async #sizeOf(address: string): Promise<SlaveSize[]> {
    const body = await this.#body(address, RequestCode.GET_BROKER_CONFIG);
    if (body === null) return [];
    const config = parseJavaProperties(new TextDecoder().decode(body));
    const mappedFileSize = Number(config.get(SIZE_KEY));
    return mappedFileSize > 0 ? [{ address, mappedFileSize }] : [];
  }

  /** Null when nobody answers in time. */
  async #body(address: string, code: number): Promise<Uint8Array | null> {
    const { client } = this.#ports;
    try {
      const response = await client.invoke(
        address,
        createRequest(code),
        TIMEOUT_MS,
      );
      return response.code === ResponseCode.SUCCESS ? response.body : null;
    } catch {
      return null; // Nothing is known against a slave that does not answer.
    }
  }
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":"));
}
