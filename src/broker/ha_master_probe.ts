/**
 * HAMasterProbe: asks a master, Apache's or ours, whether this slave may follow it.
 *
 * | question | request | a link is refused when |
 * | --- | --- | --- |
 * | who are you | GET_BROKER_CONFIG (26) | name or cluster differ, it is a slave, file sizes differ |
 * | what do you hold | GET_BROKER_RUNTIME_INFO (28) | our end lies outside of its log |
 * | what lies there | DIGEST_COMMIT_LOG (31003), else VIEW_MESSAGE_BY_ID (33) | our last bytes differ from its bytes |
 *
 * Nothing is assumed of a master that does not answer: without comparison, no replication.
 */
import { parseJavaProperties } from "../base/java_properties.ts";
import type { MasterPorts } from "../ha/foreign_master.ts";
import type { LogComparison, MasterProbe } from "../ha/master_probe.ts";
import type { Logger } from "../io/logger.ts";
import { RequestCode } from "../protocol/request_code.ts";
import type { ReplicaLog } from "../store/replica_log.ts";
import { compareTails } from "./ha_log_comparison.ts";
import {
  type HAMasterClient,
  HAMasterLog,
  type MasterBounds,
} from "./ha_master_log.ts";

/** What the probe needs. */
export interface HAMasterProbePorts {
  readonly client: HAMasterClient;
  readonly log: ReplicaLog;
  readonly logger: Logger;
  /** Remoting address of the master whose HA port is given; null while unknown. */
  masterAddressOf(haAddress: string): string | null;
  /** True when that is a guess: nobody told the address. */
  isAddressDerived(haAddress: string): boolean;
  /** This broker. */
  readonly identity: {
    readonly brokerName: string;
    readonly clusterName: string;
    readonly haServerAddr: string;
  };
  /** haBootstrap. */
  haBootstrap(): "last" | "min";
  /** brokerRole of the master. */
  onMasterRole(role: string): void;
  /** The empty log has taken another file size. */
  onFileSizeAdopted(size: number): void;
  /** True when somebody set mappedFileSizeCommitLog by hand. */
  readonly isFileSizeExplicit: boolean;
  selectOneMessageByOffset(phyOffset: number): Promise<Uint8Array | undefined>;
}

const SIZE_KEY = "mappedFileSizeCommitLog";

/** Asks over remoting. */
export class HAMasterProbe implements MasterProbe {
  readonly #ports: HAMasterProbePorts;

  constructor(ports: HAMasterProbePorts) {
    this.#ports = ports;
  }

  async masterMaxOffset(haAddress: string): Promise<number | null> {
    const address = this.#ports.masterAddressOf(haAddress);
    if (address === null) return null;
    const { maxOffset } = await this.#masterLog(address).bounds();
    return maxOffset;
  }

  async compare(haAddress: string): Promise<LogComparison> {
    const { identity, log } = this.#ports;
    if (haAddress === identity.haServerAddr) {
      return stop(
        "stalled",
        `The master's address ${haAddress} is this broker's own: check haMasterAddress and brokerId`,
      );
    }
    const address = this.#ports.masterAddressOf(haAddress);
    if (address === null) {
      return stop(
        "disconnected",
        "The remoting address of the master is not known, and without it the logs cannot be compared: set masterAddress",
      );
    }
    try {
      const master = this.#masterLog(address);
      const config = await configOf(master);
      const refusal = await this.#compareConfig(master, config);
      if (refusal !== null) return refusal;
      const bounds = await master.bounds();
      const compared = log.isEmpty || log.maxOffset === 0
        ? this.#begin(bounds)
        : await compareTails(this.#ports, master, bounds);
      return compared.kind === "prefix"
        ? { ...compared, ports: portsOf(config) }
        : compared;
    } catch (error) {
      const derived = this.#ports.isAddressDerived(haAddress)
        ? `; this address is that of the replication port, ${haAddress}, minus 1: check haMasterAddress, ` +
          "or set masterAddress to the master's remoting port"
        : "";
      return stop(
        "disconnected",
        `Cannot compare the logs with the master over remoting at ${address}: ${
          messageOf(error)
        }${derived}`,
      );
    }
  }

  #masterLog(address: string): HAMasterLog {
    return new HAMasterLog(this.#ports.client, address);
  }

  /** Names, and the size of log files; an empty log takes the master's size. */
  async #compareConfig(
    master: HAMasterLog,
    config: ReadonlyMap<string, string>,
  ): Promise<LogComparison | null> {
    const { identity, isFileSizeExplicit, log, logger } = this.#ports;
    const { address } = master;
    const names = [
      ["brokerName", identity.brokerName],
      ["brokerClusterName", identity.clusterName],
    ] as const;
    for (const [key, own] of names) {
      const theirs = config.get(key);
      if (theirs === own) continue;
      return stop(
        "stalled",
        `${key} is ${own} here and ${theirs} at the master ${address}: a slave needs its master's`,
      );
    }
    this.#ports.onMasterRole(config.get("brokerRole") ?? "");
    const size = Number(config.get(SIZE_KEY));
    if (size === log.mappedFileSize) return null;
    if (!Number.isSafeInteger(size) || size <= 0) {
      return stop("stalled", `The master ${address} does not tell ${SIZE_KEY}`);
    }
    if (log.isEmpty && !isFileSizeExplicit) {
      logger.info("The empty log takes the file size of its master", {
        key: SIZE_KEY,
        configured: log.mappedFileSize,
        adopted: size,
      });
      await log.adoptFileSize(size);
      this.#ports.onFileSizeAdopted(size);
      return null;
    }
    return stop(
      "stalled",
      `${SIZE_KEY} is ${log.mappedFileSize} here and ${size} at the master ${address}; ` +
        (log.isEmpty
          ? `set ${SIZE_KEY}=${size} or remove the setting`
          : `start with an empty store and ${SIZE_KEY}=${size}`),
    );
  }

  /** Where an empty log asks to begin. */
  #begin({ minOffset, maxOffset }: MasterBounds): LogComparison {
    const isMin = this.#ports.haBootstrap() === "min" && maxOffset > 0;
    // 0 would mean the newest file; the first byte of a record's size is always 0.
    const requestOffset = isMin ? Math.max(1, minOffset) : 0;
    return { kind: "prefix", requestOffset, masterMaxOffset: maxOffset };
  }
}

async function configOf(
  master: HAMasterLog,
): Promise<ReadonlyMap<string, string>> {
  const { body } = await master.ask(RequestCode.GET_BROKER_CONFIG);
  return parseJavaProperties(new TextDecoder().decode(body));
}

/** haListenPort 0 is listenPort + 1, here and at Apache's. */
function portsOf(
  config: ReadonlyMap<string, string>,
): MasterPorts | undefined {
  const listenPort = Number(config.get("listenPort"));
  const haListenPort = Number(config.get("haListenPort")) || listenPort + 1;
  return listenPort > 0 ? { listenPort, haListenPort } : undefined;
}

function stop(
  problem: Extract<LogComparison, { kind: "stop" }>["problem"],
  reason: string,
): LogComparison {
  return { kind: "stop", problem, reason };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
