/**
 * HAMasterProbe: asks a master, Apache's or ours, whether this slave may follow it.
 *
 * | question | request | a link is refused when |
 * | --- | --- | --- |
 * | who are you | GET_BROKER_CONFIG (26) | name or cluster differ, it is a slave, file sizes differ |
 * | what do you hold | GET_BROKER_RUNTIME_INFO (28) | our end lies outside of its log |
 * | what lies there | VIEW_MESSAGE_BY_ID (33) | our last record differs from its record |
 *
 * Nothing is assumed of a master that does not answer: without comparison, no replication.
 */
import { parseJavaProperties } from "../base/java_properties.ts";
import type { LogComparison, MasterProbe } from "../ha/master_probe.ts";
import type { Logger } from "../io/logger.ts";
import { decodeKVTable } from "../protocol/body/kv_table.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode, responseCodeName } from "../protocol/response_code.ts";
import type { ReplicaLog } from "../store/replica_log.ts";

/** What the probe needs. */
export interface HAMasterProbePorts {
  readonly client: {
    invoke(
      address: string,
      request: RemotingCommand,
      timeoutMs: number,
    ): Promise<RemotingCommand>;
  };
  readonly log: ReplicaLog;
  readonly logger: Logger;
  /** Remoting address of the master whose HA port is given; null while unknown. */
  masterAddressOf(haAddress: string): string | null;
  /** This broker. */
  readonly identity: {
    readonly brokerName: string;
    readonly clusterName: string;
    readonly haServerAddr: string;
  };
  /** haBootstrap. */
  haBootstrap(): "last" | "min";
  /** The empty log has taken another file size. */
  onFileSizeAdopted(size: number): void;
  /** True when somebody set mappedFileSizeCommitLog by hand. */
  readonly isFileSizeExplicit: boolean;
  selectOneMessageByOffset(phyOffset: number): Promise<Uint8Array | undefined>;
}

/** Bounds of a master's log. */
interface MasterBounds {
  readonly minOffset: number;
  readonly maxOffset: number;
}

const TIMEOUT_MS = 3_000;
const SIZE_KEY = "mappedFileSizeCommitLog";

/** Asks over remoting. */
export class HAMasterProbe implements MasterProbe {
  readonly #ports: HAMasterProbePorts;

  constructor(ports: HAMasterProbePorts) {
    this.#ports = ports;
  }

  async masterMaxOffset(haAddress: string): Promise<number | null> {
    const address = this.#ports.masterAddressOf(haAddress);
    return address === null ? null : (await this.#bounds(address)).maxOffset;
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
      const refusal = await this.#compareConfig(address);
      if (refusal !== null) return refusal;
      const bounds = await this.#bounds(address);
      return log.isEmpty || log.maxOffset === 0
        ? this.#begin(bounds)
        : await this.#compareTail(address, bounds);
    } catch (error) {
      return stop(
        "disconnected",
        `Cannot compare the logs with the master over remoting at ${address}: ${
          messageOf(error)
        }`,
      );
    }
  }

  /** Names, and the size of log files; an empty log takes the master's size. */
  async #compareConfig(address: string): Promise<LogComparison | null> {
    const { identity, isFileSizeExplicit, log, logger } = this.#ports;
    const { body } = await this.#ask(address, RequestCode.GET_BROKER_CONFIG);
    const config = parseJavaProperties(new TextDecoder().decode(body));
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

  async #bounds(address: string): Promise<MasterBounds> {
    const { body } = await this.#ask(
      address,
      RequestCode.GET_BROKER_RUNTIME_INFO,
    );
    const table = decodeKVTable(body);
    return {
      minOffset: offsetOf(table, "commitLogMinOffset"),
      maxOffset: offsetOf(table, "commitLogMaxOffset"),
    };
  }

  /** Where an empty log asks to begin. */
  #begin({ minOffset, maxOffset }: MasterBounds): LogComparison {
    const isMin = this.#ports.haBootstrap() === "min" && maxOffset > 0;
    // 0 would mean the newest file; the first byte of a record's size is always 0.
    const requestOffset = isMin ? Math.max(1, minOffset) : 0;
    return { kind: "prefix", requestOffset, masterMaxOffset: maxOffset };
  }

  async #compareTail(
    address: string,
    { minOffset, maxOffset }: MasterBounds,
  ): Promise<LogComparison> {
    const { log } = this.#ports;
    const end = log.maxOffset;
    if (end > maxOffset) {
      return stop(
        "diverged",
        `This log ends at ${end}, beyond the master's ${maxOffset} at ${address}: it holds bytes that the master does not have`,
      );
    }
    if (end < minOffset) {
      return stop(
        "needs-reseed",
        `This log ends at ${end}, the master's begins at ${minOffset}: what lies between is deleted there; start with an empty store`,
      );
    }
    const last = log.lastRecord;
    if (last !== undefined && last.phyOffset >= minOffset) {
      const own = await this.#ports.selectOneMessageByOffset(last.phyOffset);
      const theirs = await this.#recordAt(address, last.phyOffset);
      if (own !== undefined && !isSame(own, theirs)) {
        return stop(
          "diverged",
          `The record at ${last.phyOffset}, the last of this log, differs from the master's at ${address}`,
        );
      }
    }
    return { kind: "prefix", requestOffset: 0, masterMaxOffset: maxOffset };
  }

  /** Undefined when the master has no record there. */
  async #recordAt(
    address: string,
    phyOffset: number,
  ): Promise<Uint8Array | undefined> {
    const response = await this.#ports.client.invoke(
      address,
      createRequest(RequestCode.VIEW_MESSAGE_BY_ID, {
        offset: String(phyOffset),
      }),
      TIMEOUT_MS,
    );
    return response.code === ResponseCode.SUCCESS ? response.body : undefined;
  }

  async #ask(address: string, code: number): Promise<RemotingCommand> {
    const response = await this.#ports.client.invoke(
      address,
      createRequest(code),
      TIMEOUT_MS,
    );
    if (response.code === ResponseCode.SUCCESS) return response;
    throw new Error(
      `request ${code} is answered with ${responseCodeName(response.code)}: ${
        response.remark ?? ""
      }`,
    );
  }
}

function stop(
  problem: Extract<LogComparison, { kind: "stop" }>["problem"],
  reason: string,
): LogComparison {
  return { kind: "stop", problem, reason };
}

function offsetOf(table: ReadonlyMap<string, string>, key: string): number {
  const offset = Number(table.get(key) ?? NaN);
  if (Number.isSafeInteger(offset)) return offset;
  throw new Error(`${key} is ${table.get(key) ?? "missing"}`);
}

function isSame(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.length === b.length &&
    a.every((it, index) => it === b[index]);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
