/**
 * HAMasterLog: what a slave asks its master's log over remoting.
 *
 * | question | request | answered by |
 * | --- | --- | --- |
 * | where does it begin and end | GET_BROKER_RUNTIME_INFO (28) | everyone |
 * | what lies at an offset | VIEW_MESSAGE_BY_ID (33) | everyone |
 * | what bytes lie in a stretch | DIGEST_COMMIT_LOG (31003) | PocketMQ |
 * | where was it promoted | GET_HA_ROLE (31002) | PocketMQ |
 */
import {
  decodeHARole,
  type HARoleBody,
} from "../protocol/body/ha_role_body.ts";
import { decodeKVTable } from "../protocol/body/kv_table.ts";
import { decodeLogDigest } from "../protocol/body/log_digest_body.ts";
import { PocketmqRequestCode } from "../protocol/pocketmq_request_code.ts";
import {
  createRequest,
  type ExtFields,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode, responseCodeName } from "../protocol/response_code.ts";

/** Sends requests; rejects when there is no answer. */
export interface HAMasterClient {
  invoke(
    address: string,
    request: RemotingCommand,
    timeoutMs: number,
  ): Promise<RemotingCommand>;
}

/** Bounds of a master's log. */
export interface MasterBounds {
  readonly minOffset: number;
  readonly maxOffset: number;
}

const TIMEOUT_MS = 3_000;

/** One master's log; every method rejects when the master does not answer as it should. */
export class HAMasterLog {
  constructor(
    private readonly client: HAMasterClient,
    /** `host:port` of its remoting port. */
    readonly address: string,
  ) {}

  async bounds(): Promise<MasterBounds> {
    const { body } = await this.ask(RequestCode.GET_BROKER_RUNTIME_INFO);
    const table = decodeKVTable(body);
    return {
      minOffset: offsetOf(table, "commitLogMinOffset"),
      maxOffset: offsetOf(table, "commitLogMaxOffset"),
    };
  }

  /** The record there; undefined when the master has none. */
  async recordAt(phyOffset: number): Promise<Uint8Array | undefined> {
    const { body, code } = await this.#invoke(RequestCode.VIEW_MESSAGE_BY_ID, {
      offset: String(phyOffset),
    });
    return code === ResponseCode.SUCCESS ? body : undefined;
  }

  /** SHA-256 of a stretch; null when it is not there, undefined when Apache's cannot tell. */
  async digest(
    fromOffset: number,
    toOffset: number,
  ): Promise<string | null | undefined> {
    const response = await this.#invoke(PocketmqRequestCode.DIGEST_COMMIT_LOG, {
      offset: String(fromOffset),
      size: String(toOffset - fromOffset),
    });
    if (isUnknown(response)) return undefined;
    return decodeLogDigest(successOf(response).body).digest;
  }

  /** Undefined for Apache's. */
  async haRole(): Promise<HARoleBody | undefined> {
    const response = await this.#invoke(PocketmqRequestCode.GET_HA_ROLE);
    if (isUnknown(response)) return undefined;
    return decodeHARole(successOf(response).body);
  }

  /** Rejects unless the answer is a success. */
  async ask(code: number): Promise<RemotingCommand> {
    return successOf(await this.#invoke(code), code);
  }

  #invoke(code: number, fields?: ExtFields): Promise<RemotingCommand> {
    return this.client.invoke(
      this.address,
      createRequest(code, fields),
      TIMEOUT_MS,
    );
  }
}

function isUnknown({ code }: RemotingCommand): boolean {
  return code === ResponseCode.REQUEST_CODE_NOT_SUPPORTED;
}

function successOf(response: RemotingCommand, code?: number): RemotingCommand {
  if (response.code === ResponseCode.SUCCESS) return response;
  const what = code === undefined ? "a request" : `request ${code}`;
  throw new Error(
    `${what} is answered with ${responseCodeName(response.code)}: ${
      response.remark ?? ""
    }`,
  );
}

function offsetOf(table: ReadonlyMap<string, string>, key: string): number {
  const offset = Number(table.get(key) ?? NaN);
  if (Number.isSafeInteger(offset)) return offset;
  throw new Error(`${key} is ${table.get(key) ?? "missing"}`);
}
