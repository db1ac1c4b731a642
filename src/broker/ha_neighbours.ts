/**
 * HANeighbours: looks in the name servers for what makes a pair fail silently: a second broker
 * of the same name and id, or a slave whose brokerName no master has (scenario 29).
 *
 * A name server shows only the last of two brokers that claim one place, so a rival that was
 * seen once is asked directly from then on, until it is gone. It is told of once two looks agree:
 * in a change of roles both nodes of a pair have one id for some seconds.
 */
import { parseJavaProperties } from "../base/java_properties.ts";
import type { NeighbourWarning } from "../ha/ha_state.ts";
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import {
  type ClusterInfo,
  decodeClusterInfo,
} from "../protocol/body/cluster_info.ts";
import { decodeHARole } from "../protocol/body/ha_role_body.ts";
import { PocketmqRequestCode } from "../protocol/pocketmq_request_code.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import {
  type BrokerIdentity,
  NAMESRV_PATIENCE_MS,
} from "./broker_outer_api.ts";

/** What it needs. */
export interface HANeighboursPorts {
  readonly client: {
    invoke(
      address: string,
      request: RemotingCommand,
      timeoutMs: number,
    ): Promise<RemotingCommand>;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly identity: BrokerIdentity;
  /** Those in force now. */
  namesrvAddrs(): readonly string[];
  /** Epoch of this broker: a rival with a lower one is a master that was overtaken. */
  epoch(): number;
  /** True for a slave that has not found its master. */
  isWithoutMaster(): boolean;
  /** Null when the neighbours fit. */
  onWarning(warning: NeighbourWarning | null): void;
}

const INTERVAL_MS = 5_000;
const TIMEOUT_MS = 3_000;
/** A slave may be up before its master: silence for so long is no news. */
const PATIENCE_MS = 6_000;

/** Watches the neighbours of one broker. */
export class HANeighbours {
  readonly #ports: HANeighboursPorts;
  #startedMs = 0;
  #nextMs = 0;
  #isLooking = false;
  /** Seen by the last look. */
  #rival: string | null = null;
  #warning: NeighbourWarning | null = null;

  constructor(ports: HANeighboursPorts) {
    this.#ports = ports;
  }

  /** Who else was found in our place; null: nobody. */
  get rival(): string | null {
    return this.#rival;
  }

  /** To be called before the own registration, which takes a rival's place in the table. */
  start(): void {
    this.#startedMs = this.#ports.clock.monotonicMs();
    this.tick();
  }

  /** Every 100 ms. */
  tick(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    if (this.#isLooking || nowMs < this.#nextMs) return;
    this.#isLooking = true;
    this.#nextMs = nowMs + INTERVAL_MS;
    this.#look().catch((error: unknown) =>
      this.#ports.logger.debug("Cannot look at the neighbours", { error })
    ).then(() => {
      this.#isLooking = false;
    });
  }

  async #look(): Promise<void> {
    const infos = await this.#clusterInfos();
    for (
      const address of [
        this.#rival,
        ...infos.map((it) => this.#other(it)),
      ]
    ) {
      if (address === null || !await this.#isRival(address)) continue;
      const isConfirmed = this.#rival === address;
      this.#rival = address;
      return isConfirmed
        ? this.#warn(await this.#aboutRival(address))
        : undefined;
    }
    this.#rival = null;
    const { clock } = this.#ports;
    const isPatient = clock.monotonicMs() - this.#startedMs < PATIENCE_MS;
    if (!this.#ports.isWithoutMaster() || isPatient) return this.#warn(null);
    this.#warn(infos.length === 0 ? null : this.#withoutMaster(infos));
  }

  async #aboutRival(address: string): Promise<NeighbourWarning> {
    const { brokerId, brokerName } = this.#ports.identity;
    const body = await this.#ask(address, PocketmqRequestCode.GET_HA_ROLE);
    const epoch = body === null ? null : decodeHARole(body).epoch;
    const own = this.#ports.epoch();
    if (brokerId === 0 && epoch !== null && epoch < own) {
      return {
        kind: "overtaken",
        text:
          `the broker at ${address} was the master of epoch ${epoch}, this one is that of ${own}: ` +
          "it is fenced and accepts nothing, make it a slave there with `pocketmq ha demote`",
      };
    }
    return {
      kind: "rival",
      text:
        `brokerId=${brokerId} of brokerName=${brokerName} is taken by ${address} too: ` +
        "two brokers claim one place, " +
        (brokerId > 0
          ? "`pocketmq ha demote` on one of them gives it a free one"
          : "make one of them a slave or stop it"),
    };
  }

  #warn(warning: NeighbourWarning | null): void {
    if (warning !== null && warning.text !== this.#warning?.text) {
      this.#ports.logger.warn(warning.text);
    }
    this.#warning = warning;
    this.#ports.onWarning(warning);
  }

  /** Of every name server that answers. */
  async #clusterInfos(): Promise<ClusterInfo[]> {
    const addresses = this.#ports.namesrvAddrs();
    const code = RequestCode.GET_BROKER_CLUSTER_INFO;
    const infos = await Promise.all(addresses.map(async (address) => {
      const body = await this.#ask(address, code, NAMESRV_PATIENCE_MS);
      return body === null ? [] : [decodeClusterInfo(body)];
    }));
    return infos.flat();
  }

  /** Whoever else a name server shows in our place. */
  #other(info: ClusterInfo): string | null {
    const { brokerAddr, brokerId, brokerName } = this.#ports.identity;
    const brokers = info.brokerAddrTable.get(brokerName);
    const address = brokers?.brokerAddrs.get(brokerId);
    return address === undefined || address === brokerAddr ? null : address;
  }

  /** True when a living broker there says that it has our name and id. */
  async #isRival(address: string): Promise<boolean> {
    const { brokerAddr, brokerId, brokerName } = this.#ports.identity;
    if (address === brokerAddr) return false;
    const body = await this.#ask(address, RequestCode.GET_BROKER_CONFIG);
    if (body === null) return false;
    const config = parseJavaProperties(new TextDecoder().decode(body));
    // Our own former address may lead to us.
    const own = `${config.get("brokerIP1")}:${config.get("listenPort")}`;
    return own !== brokerAddr && config.get("brokerName") === brokerName &&
      config.get("brokerId") === String(brokerId);
  }

  #withoutMaster(infos: readonly ClusterInfo[]): NeighbourWarning | null {
    const { brokerName, clusterName } = this.#ports.identity;
    const masters = new Map<string, string>();
    for (const { brokerAddrTable } of infos) {
      for (const it of brokerAddrTable.values()) {
        if (it.brokerAddrs.has(0)) masters.set(it.brokerName, it.cluster);
      }
    }
    const cluster = masters.get(brokerName);
    if (cluster === clusterName) return null;
    if (cluster !== undefined) {
      return {
        kind: "no-master",
        text:
          `brokerClusterName is ${clusterName} here and ${cluster} at the master of brokerName=${brokerName}: ` +
          "a slave needs its master's, change it and start again",
      };
    }
    const names = [...masters.keys()].sort().slice(0, 8).join(", ");
    const text =
      `No master with brokerName=${brokerName} in brokerClusterName=${clusterName} is known to the name servers; ` +
      (names === ""
        ? "no master is registered there at all"
        : `masters there: ${names}; check brokerName`);
    return { kind: "no-master", text };
  }

  /** The body of a successful answer; null without one. */
  async #ask(
    address: string,
    code: number,
    timeoutMs = TIMEOUT_MS,
  ): Promise<Uint8Array | null> {
    try {
      const response = await this.#ports.client.invoke(
        address,
        createRequest(code),
        timeoutMs,
      );
      return response.code === ResponseCode.SUCCESS ? response.body : null;
    } catch {
      return null; // Registration tells about name servers that are away.
    }
  }
}
