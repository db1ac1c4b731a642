/** The keys of the remoting room: Netty's where Apache has them, ours elsewhere. */
import type {
  RemotingClientOptions,
  RemotingServerOptions,
} from "../remoting/remoting_options.ts";
import { AddressBlocks } from "../model/address_blocks.ts";
import { integer, millis, size, text, type ValuesOf } from "./config_key.ts";

const MIB = 1024 * 1024;
const BUFFERED_BYTES_MIN = 1 * MIB;
const BUFFERED_BYTES_MAX = 128 * MIB;
const CONNECTIONS_MIN = 16;
const CONNECTIONS_MAX = 10_000;
/** Open files that are neither of the store nor connections of clients. */
const OTHER_OPEN_FILES = 64;
/** What all servers of a process buffer together, as part of its memory. */
const BUFFERED_MEMORY_PART = 8;

/** Limits of every connection, whoever opened it. */
export const REMOTING_KEYS = {
  frameMaxLength: size(16 * MIB, "Bytes of one frame", {
    min: 4096,
    max: 256 * MIB,
  }),
  connectionsMax: integer(
    CONNECTIONS_MAX,
    "Connections of one port; by default no more than the limit of open files (ulimit -n) has room for",
    { min: 1 },
  ),
  bufferedBytesMax: size(
    BUFFERED_BYTES_MAX,
    "Received and unsent bytes of all connections of one server; all servers of a process together have at most an eighth of its memory by default",
    { min: BUFFERED_BYTES_MIN },
  ),
  inFlightRequestsMax: integer(
    8_192,
    "Unanswered requests of one connection",
    { min: 1 },
  ),
  writeQueueBytesHigh: size(
    4 * MIB,
    "Unsent bytes at which a connection is no longer read",
    { min: 4096 },
  ),
  writeQueueBytesMax: size(
    64 * MIB,
    "Unsent bytes at which a connection is closed",
    { min: 4096 },
  ),
  writeStallMs: millis(60_000, "A peer may take none of its bytes", {
    min: 100,
  }),
  firstFrameTimeoutMs: millis(30_000, "The first header may take", {
    min: 100,
  }),
  frameTimeoutMs: millis(120_000, "One frame may take", { min: 100 }),
  serverChannelMaxIdleTimeSeconds: integer(
    120,
    "Silence after which a client's connection is closed",
    { unit: "s", min: 1 },
  ),
  clientChannelMaxIdleTimeSeconds: integer(
    120,
    "Silence after which an own connection is closed",
    { unit: "s", min: 1 },
  ),
  proxyProtocolPeers: text(
    "",
    "Addresses or blocks of load balancers whose PROXY headers (v1, v2) are taken on the remoting ports; empty: nobody's",
    {
      errorOf: (value) => {
        const wrong = AddressBlocks.invalidEntry(value);
        return wrong === undefined
          ? undefined
          : `give addresses or blocks as 10.0.0.0/24, several separated by ";" ("${wrong}" is none)`;
      },
    },
  ),
  connectTimeoutMillis: millis(3_000, "An own connection may take", {
    min: 1,
  }),
} as const;

/** The default of `bufferedBytesMax` where `servers` share a process. */
export function serverBufferedBytes(
  memoryLimitBytes: number,
  servers: number,
): number {
  const share = Math.floor(memoryLimitBytes / BUFFERED_MEMORY_PART / servers);
  return Math.max(BUFFERED_BYTES_MIN, Math.min(BUFFERED_BYTES_MAX, share));
}

/** The default of `connectionsMax` where `servers` share `openFilesMax` files and sockets. */
export function serverConnections(
  openFilesMax: number,
  servers: number,
): number {
  const share = Math.floor((openFilesMax - OTHER_OPEN_FILES) / servers);
  return Math.max(CONNECTIONS_MIN, Math.min(CONNECTIONS_MAX, share));
}

type RemotingValues = ValuesOf<typeof REMOTING_KEYS>;

/** Own requests waiting on one connection; not a key, since nobody needs another number. */
const SERVER_OUTGOING_REQUESTS_MAX = 256;
const CLIENT_OUTGOING_REQUESTS_MAX = 65_535;

/** What a server reads. */
export function remotingServerOptionsOf(
  values: RemotingValues,
): RemotingServerOptions {
  return Object.freeze({
    ...channelOptionsOf(values),
    outgoingRequestsMax: SERVER_OUTGOING_REQUESTS_MAX,
    connectionsMax: values.connectionsMax,
    bufferedBytesMax: values.bufferedBytesMax,
    serverChannelMaxIdleTimeMs: values.serverChannelMaxIdleTimeSeconds * 1000,
    proxyProtocolPeers: values.proxyProtocolPeers,
  });
}

/** What a client reads. */
export function remotingClientOptionsOf(
  values: RemotingValues,
): RemotingClientOptions {
  return Object.freeze({
    ...channelOptionsOf(values),
    outgoingRequestsMax: CLIENT_OUTGOING_REQUESTS_MAX,
    connectTimeoutMs: values.connectTimeoutMillis,
    channelMaxIdleTimeMs: values.clientChannelMaxIdleTimeSeconds * 1000,
  });
}

function channelOptionsOf(values: RemotingValues) {
  return {
    frameMaxLength: values.frameMaxLength,
    inFlightRequestsMax: values.inFlightRequestsMax,
    writeQueueBytesHigh: values.writeQueueBytesHigh,
    writeQueueBytesMax: values.writeQueueBytesMax,
    writeStallMs: values.writeStallMs,
    firstFrameTimeoutMs: values.firstFrameTimeoutMs,
    frameTimeoutMs: values.frameTimeoutMs,
  };
}
