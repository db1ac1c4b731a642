/** RemotingOptions: the limits of remoting connections, each with its unit. */
import { FRAME_LENGTH_MAX } from "../protocol/frame_decoder.ts";
import type { SessionCredentials } from "../protocol/request_signature.ts";

/** Limits of one connection, whoever opened it. */
export interface ChannelOptions {
  /** Bytes of the largest frame received, its length field included. */
  readonly frameMaxLength: number;
  /** Requests of the peer that may be unanswered before reading stops. */
  readonly inFlightRequestsMax: number;
  /** Own requests that may wait for an answer. */
  readonly outgoingRequestsMax: number;
  /** Unsent bytes at which requests of the peer are no longer read. */
  readonly writeQueueBytesHigh: number;
  /** Unsent bytes at which the connection is closed. */
  readonly writeQueueBytesMax: number;
  /** How long a peer may take none of the bytes queued for it. */
  readonly writeStallMs: number;
  /** How long the first header may take once its first byte is there. */
  readonly firstFrameTimeoutMs: number;
  /** How long any frame may take once its first byte is there. */
  readonly frameTimeoutMs: number;
}

/** Limits of a server. */
export interface RemotingServerOptions extends ChannelOptions {
  /** Connections beyond are refused. */
  readonly connectionsMax: number;
  /**
   * Bytes of incomplete frames and of unsent answers, over all connections;
   * beyond, the connection that holds most of them is closed.
   */
  readonly bufferedBytesMax: number;
  /** A connection without reads and writes for so long is closed. */
  readonly serverChannelMaxIdleTimeMs: number;
  /** Addresses or blocks of load balancers that may say whose connection they hand on. */
  readonly proxyProtocolPeers: string;
}

/** Limits of a client. */
export interface RemotingClientOptions extends ChannelOptions {
  readonly connectTimeoutMs: number;
  /** A connection without reads and writes for so long is closed. */
  readonly channelMaxIdleTimeMs: number;
  /** Who signs the requests; absent: nobody. */
  readonly credentials?: SessionCredentials | undefined;
}

const MIB = 1024 * 1024;

const DEFAULT_CHANNEL_OPTIONS: ChannelOptions = {
  frameMaxLength: FRAME_LENGTH_MAX,
  inFlightRequestsMax: 8192,
  outgoingRequestsMax: 65_535,
  writeQueueBytesHigh: 4 * MIB,
  writeQueueBytesMax: 64 * MIB,
  writeStallMs: 60_000,
  firstFrameTimeoutMs: 30_000,
  frameTimeoutMs: 120_000,
};

/** What a server uses unless configured otherwise. */
export const DEFAULT_REMOTING_SERVER_OPTIONS: RemotingServerOptions = Object
  .freeze({
    ...DEFAULT_CHANNEL_OPTIONS,
    outgoingRequestsMax: 256,
    connectionsMax: 10_000,
    bufferedBytesMax: 128 * MIB,
    serverChannelMaxIdleTimeMs: 120_000,
    proxyProtocolPeers: "",
  });

/** What a client uses unless configured otherwise. */
export const DEFAULT_REMOTING_CLIENT_OPTIONS: RemotingClientOptions = Object
  .freeze({
    ...DEFAULT_CHANNEL_OPTIONS,
    connectTimeoutMs: 3000,
    channelMaxIdleTimeMs: 120_000,
  });
