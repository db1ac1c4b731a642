/** ChannelWatch: the time limits of one connection. All times are monotonic. */
import type { ChannelOptions } from "./remoting_options.ts";

/** A first frame that has brought more than this is a slow link, not a dribble. */
const FIRST_HEADER_SIZE = 64 * 1024;

/** What the watch looks at. */
export interface WatchedChannel {
  /** Frames received since the connection began. */
  readonly frames: number;
  /** Bytes of the frame that is not complete. */
  readonly pendingBytes: number;
  /** Bytes that the kernel has taken, since the connection began. */
  readonly sentBytes: number;
  /** Bytes that it has not taken. */
  readonly queuedBytes: number;
  /** True while own requests wait for an answer. */
  readonly isWaiting: boolean;
}

/** Which limit was passed. */
export type Overdue = "first-frame" | "frame" | "write-stall" | "idle";

/** Slow frames, peers that do not read, idle peers. */
export class ChannelWatch {
  #activeMs: number;
  /** When the incomplete frame began; -1 without one. */
  #partialSinceMs = -1;
  #sentBytes = 0;
  #sentMs: number;

  constructor(nowMs: number) {
    this.#activeMs = nowMs;
    this.#sentMs = nowMs;
  }

  /** The peer has shown that it lives. */
  touch(nowMs: number): void {
    this.#activeMs = nowMs;
  }

  /** Bytes of a frame wait for the rest; a new frame starts the time anew. */
  partial(nowMs: number, isNewFrame: boolean): void {
    if (this.#partialSinceMs < 0 || isNewFrame) this.#partialSinceMs = nowMs;
  }

  /** No frame is incomplete, or it is not for the peer to complete it. */
  complete(): void {
    this.#partialSinceMs = -1;
  }

  /** The limit that was passed, or null. */
  check(
    nowMs: number,
    channel: WatchedChannel,
    options: ChannelOptions,
    idleTimeMs: number,
  ): Overdue | null {
    const { firstFrameTimeoutMs, frameTimeoutMs, writeStallMs } = options;
    if (this.#partialSinceMs >= 0) {
      const elapsedMs = nowMs - this.#partialSinceMs;
      const isDribble = channel.frames === 0 &&
        channel.pendingBytes < FIRST_HEADER_SIZE;
      if (isDribble && elapsedMs >= firstFrameTimeoutMs) return "first-frame";
      if (elapsedMs >= frameTimeoutMs) return "frame";
    }
    if (channel.queuedBytes === 0 || channel.sentBytes !== this.#sentBytes) {
      // A queue that shrinks is a sign of life: somebody takes the bytes.
      if (channel.queuedBytes > 0) this.#activeMs = nowMs;
      this.#sentBytes = channel.sentBytes;
      this.#sentMs = nowMs;
    } else if (nowMs - this.#sentMs >= writeStallMs) return "write-stall";
    const isIdle = nowMs - this.#activeMs >= idleTimeMs;
    return isIdle && !channel.isWaiting ? "idle" : null;
  }
}

/** The limit in words, for the log; null for an idle connection, which is nothing to report. */
export function overdueReason(
  overdue: Overdue,
  options: ChannelOptions,
  queuedBytes: number,
): string | null {
  switch (overdue) {
    case "first-frame":
      return `its first frame was not complete within ${options.firstFrameTimeoutMs} ms`;
    case "frame":
      return `a frame was not complete within ${options.frameTimeoutMs} ms`;
    case "write-stall":
      return `it took none of ${queuedBytes} bytes for ${options.writeStallMs} ms`;
    case "idle":
      return null;
  }
}
