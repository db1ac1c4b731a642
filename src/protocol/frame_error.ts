/** FrameError: bytes that are no frame of the remoting protocol. */

/** The peer sent something unreadable; its connection must be closed. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}
