/** LoadConnection: one raw remoting connection of the load generator; runs under Bun. */

const encoder = new TextEncoder();
const CODE = encoder.encode('"code":');
const OPAQUE = encoder.encode('"opaque":');
const MINUS = 45;

/** One answer: response code, body size and the header's fields when asked for. */
export interface LoadAnswer {
  readonly opaque: number;
  readonly code: number;
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

/** Writes requests, hands answers to `onAnswer`; the caller owns the pacing. */
export class LoadConnection {
  #socket!: Bun.Socket<undefined>;
  #pending = new Uint8Array(0);
  #unsent: Uint8Array[] = [];
  readonly #onAnswer: (answer: LoadAnswer) => void;

  private constructor(onAnswer: (answer: LoadAnswer) => void) {
    this.#onAnswer = onAnswer;
  }

  static async open(
    port: number,
    onAnswer: (answer: LoadAnswer) => void,
  ): Promise<LoadConnection> {
    const it = new LoadConnection(onAnswer);
    it.#socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        binaryType: "uint8array",
        open: (socket) => void socket.setNoDelay(true),
        data: (_, bytes) => it.#onBytes(bytes),
        drain: () => it.#drain(),
        close: () => {},
      },
    });
    return it;
  }

  /** Sends whole frames in one write. */
  write(frames: Uint8Array): void {
    if (this.#unsent.length > 0) {
      this.#unsent.push(frames.slice());
      return;
    }
    const taken = Math.max(0, this.#socket.write(frames));
    if (taken < frames.length) this.#unsent.push(frames.slice(taken));
  }

  close(): void {
    this.#socket.end();
  }

  #drain(): void {
    while (this.#unsent.length > 0) {
      const head = this.#unsent[0]!;
      const taken = Math.max(0, this.#socket.write(head));
      if (taken < head.length) {
        this.#unsent[0] = head.subarray(taken);
        return;
      }
      this.#unsent.shift();
    }
  }

  #onBytes(bytes: Uint8Array): void {
    let input = bytes;
    if (this.#pending.length > 0) {
      input = new Uint8Array(this.#pending.length + bytes.length);
      input.set(this.#pending);
      input.set(bytes, this.#pending.length);
    }
    const view = new DataView(input.buffer, input.byteOffset, input.length);
    let at = 0;
    while (input.length - at >= 8) {
      const size = view.getInt32(at);
      if (input.length - at < 4 + size) break;
      const headerSize = view.getInt32(at + 4) & 0xffffff;
      const header = input.subarray(at + 8, at + 8 + headerSize);
      const body = input.subarray(at + 8 + headerSize, at + 4 + size);
      this.#onAnswer({
        code: numberBehind(header, CODE),
        opaque: numberBehind(header, OPAQUE),
        header,
        body,
      });
      at += 4 + size;
    }
    this.#pending = input.slice(at);
  }
}

/**
 * The number behind `name`, without parsing the header: the generator shares
 * the machine with what it measures and must not be the limit.
 */
function numberBehind(header: Uint8Array, name: Uint8Array): number {
  const nameEnd = name.length - 1;
  let at = nameEnd;
  for (; at < header.length; at++) {
    if (header[at] !== name[nameEnd]) continue;
    let same = 1;
    while (same <= nameEnd && header[at - same] === name[nameEnd - same]) {
      same++;
    }
    if (same > nameEnd) break;
  }
  let value = 0;
  let sign = 1;
  for (at++; at < header.length; at++) {
    const byte = header[at]!;
    if (byte === MINUS) sign = -1;
    else if (byte >= 48 && byte <= 57) value = value * 10 + byte - 48;
    else break;
  }
  return value * sign;
}

/** A frame with a JSON header; `opaque` is written with a fixed width so that it can be patched. */
export function requestFrame(
  code: number,
  opaque: number,
  extFields: Record<string, string>,
  body: Uint8Array,
): Uint8Array {
  const header = encoder.encode(JSON.stringify({
    code,
    extFields,
    flag: 0,
    language: "JAVA",
    opaque,
    serializeTypeCurrentRPC: "JSON",
    version: 479,
  }));
  const frame = new Uint8Array(8 + header.length + body.length);
  const view = new DataView(frame.buffer);
  view.setInt32(0, 4 + header.length + body.length);
  view.setInt32(4, header.length);
  frame.set(header, 8);
  frame.set(body, 8 + header.length);
  return frame;
}
