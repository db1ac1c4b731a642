/** HAWire: what may happen to the bytes of one link on their way, and what a test plants there. */
import {
  encodeTransferHeader,
  TransferDecoder,
} from "../../src/ha/transfer_header.ts";
import type { Connection, ConnectionEvents } from "../../src/io/network.ts";
import type { SimRandom } from "./sim_random.ts";

/** One per story; both ends go through it. */
export class HAWire {
  /** Bytes after which the link is reset, wherever that is; null: never. */
  cutAfterBytes: number | null = null;
  /** The next frame of the master vanishes, the link stays: no such TCP, but such proxies. */
  losesFrame = false;
  readonly #random: SimRandom;

  constructor(random: SimRandom) {
    this.#random = random;
  }

  /** Delivers in pieces, cut anywhere. */
  events(inner: ConnectionEvents, end: () => void): ConnectionEvents {
    let isOver = false;
    return {
      onData: (bytes) => {
        const limit = this.cutAfterBytes;
        const whole = limit === null || bytes.length <= limit;
        const part = whole ? bytes : bytes.subarray(0, limit);
        if (limit !== null) this.cutAfterBytes = limit - part.length;
        for (let from = 0; from < part.length && !isOver;) {
          const left = part.length - from;
          const size = left === 1 || !this.#random.oneIn(5)
            ? left
            : 1 + this.#random.nextInt(left - 1);
          inner.onData(part.slice(from, from + size));
          from += size;
        }
        if (whole || isOver) return;
        this.cutAfterBytes = null;
        isOver = true;
        inner.onClose("ECONNRESET");
        end();
      },
      onDrain: () => isOver || inner.onDrain(),
      onClose: (reason) => {
        if (isOver) return;
        isOver = true;
        inner.onClose(reason);
      },
    };
  }

  /** The master's end. */
  connection(inner: Connection): Connection {
    return {
      localAddress: inner.localAddress,
      remoteAddress: inner.remoteAddress,
      get queuedBytes() {
        return inner.queuedBytes;
      },
      write: (bytes) => {
        if (!this.losesFrame) return inner.write(bytes);
        this.losesFrame = false;
        return inner.queuedBytes;
      },
      pause: () => inner.pause(),
      resume: () => inner.resume(),
      close: () => inner.close(),
      terminate: () => inner.terminate(),
    };
  }
}

/** A planted bug: every header is taken for right, as if nobody checked it. */
export function withoutHeaderCheck(
  inner: ConnectionEvents,
  ownEnd: () => number,
): ConnectionEvents {
  const decoder = new TransferDecoder();
  return {
    onData: (bytes) =>
      decoder.push(bytes, {
        onHeader: (phyOffset, bodySize) => {
          const taken = ownEnd() === 0 ? phyOffset : ownEnd();
          inner.onData(encodeTransferHeader({ phyOffset: taken, bodySize }));
        },
        onBody: (body) => inner.onData(body),
      }),
    onDrain: () => inner.onDrain(),
    onClose: (reason) => inner.onClose(reason),
  };
}
