/** The keys of the remoting room: Netty's where Apache has them, ours elsewhere. */
import { integer, millis, size } from "./config_key.ts";

/** Keys of RemotingServerOptions. */
export const REMOTING_SERVER_KEYS = {
  frameMaxLength: size(16 * 1024 * 1024, "Bytes of one frame", {
    min: 1024,
    max: 256 * 1024 * 1024,
  }),
  serverChannelMaxIdleTimeSeconds: integer(
    120,
    "Silence after which a client's connection is closed",
    { unit: "s", min: 1 },
  ),
} as const;

/** Keys of RemotingClientOptions. */
export const REMOTING_CLIENT_KEYS = {
  connectTimeoutMillis: millis(3_000, "A connection may take", { min: 1 }),
} as const;
