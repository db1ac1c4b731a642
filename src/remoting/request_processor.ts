/** RequestProcessor: who answers a request code, and what it is told. */
import type { DataVersion } from "../model/data_version.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import type { SocketAddress } from "../model/socket_address.ts";

/** Returned by a processor that answers later through `context.respond`. */
export const HELD: unique symbol = Symbol("HELD");

/** One connection as processors see it; compare by identity. */
export interface RemotingConnection {
  /** Unique in the process. */
  readonly id: number;
  /** `host:port` of the peer. */
  readonly remoteAddress: string;
  /** The same, parsed once. */
  readonly remoteHost: SocketAddress;
  readonly isOpen: boolean;
  /** Sends a request to the peer over its own connection and waits for the answer. */
  invoke(request: RemotingCommand, timeoutMs: number): Promise<RemotingCommand>;
  invokeOneway(request: RemotingCommand): void;
  close(): void;
}

/** What a processor knows beside the request. */
export interface RequestContext {
  readonly connection: RemotingConnection;
  /** When the frame was complete, wall clock. */
  readonly receivedMs: number;
  /** Answers a request that was HELD; may be called once. Dropped when the connection is gone. */
  respond(response: RemotingCommand): void;
}

/** Answers requests of one or more codes; a throw becomes code 1. */
export type RequestProcessor = (
  context: RequestContext,
  request: RemotingCommand,
) => RemotingCommand | Promise<RemotingCommand> | typeof HELD;

/** What a guard knows of the broker behind it. */
export interface GuardedBroker {
  readonly clusterName: string;
  readonly brokerName: string;
  /** `host:port` as others are told. */
  readonly brokerAddr: string;
  isSlave(): boolean;
}

/** A table of a guard that slaves take over from their master. */
export interface GuardTable {
  readonly dataVersion: DataVersion;
  /** Takes over the master's answer to GET_ALL_AUTH; rejects, and then nothing has changed. */
  replaceAll(text: string): Promise<void>;
}

/** Looks at requests before their processors do, and may answer in their place. */
export interface ProcessorGuard {
  /** Users and policies, where requests change them. */
  readonly table?: GuardTable;
  /** May add processors of its own. */
  wrap(table: Map<number, RequestProcessor>, broker: GuardedBroker): void;
  /** Called every 100 ms. */
  tick(): void;
}

/** Processors by request code. */
export type ProcessorTable = ReadonlyMap<number, RequestProcessor>;
