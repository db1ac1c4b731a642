/** HAFrameError: a peer of the HA port sent bytes that cannot be part of the protocol. */

/** The connection has to end; nothing of the frame was used. */
export class HAFrameError extends Error {
  override readonly name = "HAFrameError";
}
