/**
 * The bare skeleton of the design's first decision: decode the frame, parse the
 * JSON header, copy the body to a log, write the answer. No store, no checks, no
 * dispatch: the ceiling that the broker is measured against in the same run.
 * Prints its port; run it with Bun.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import process from "node:process";

const LOG_BUFFER_SIZE = 4 * 1024 * 1024;
const PULL_MESSAGE = 11;
const PULL_COUNT = 32;
const RECORD_SIZE = 1_200;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The log: bodies gathered in one turn share one write; wraps at 64 MiB. */
class SkeletonLog {
  readonly #file: number;
  readonly #buffer = new Uint8Array(LOG_BUFFER_SIZE);
  #used = 0;
  #position = 0;

  constructor(path: string) {
    this.#file = openSync(path, "w+");
  }

  append(body: Uint8Array): number {
    if (this.#used + body.length > LOG_BUFFER_SIZE) this.flush();
    this.#buffer.set(body, this.#used);
    this.#used += body.length;
    return this.#position + this.#used - body.length;
  }

  flush(): void {
    if (this.#used === 0) return;
    writeSync(this.#file, this.#buffer, 0, this.#used, this.#position);
    this.#position = (this.#position + this.#used) % (64 * 1024 * 1024);
    this.#used = 0;
  }

  /** What a pull of 32 messages would carry, read back as a broker must. */
  read(target: Uint8Array): Uint8Array {
    const taken = readSync(this.#file, target, 0, target.length, 0);
    return target.subarray(0, taken);
  }

  close(): void {
    closeSync(this.#file);
  }
}

interface State {
  pending: Uint8Array;
  unsent: Uint8Array[];
}

const log = new SkeletonLog(process.argv[2]!);

/** Answers every whole frame of `bytes`; returns what is left over. */
function answerFrames(
  bytes: Uint8Array,
  answers: Uint8Array[],
): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  while (bytes.length - at >= 8) {
    const size = view.getInt32(at);
    if (bytes.length - at < 4 + size) break;
    const headerSize = view.getInt32(at + 4) & 0xffffff;
    const header = JSON.parse(
      decoder.decode(bytes.subarray(at + 8, at + 8 + headerSize)),
    ) as { code: number; opaque: number; extFields: Record<string, string> };
    if (header.code === PULL_MESSAGE) {
      answers.push(
        pullAnswerOf(header.opaque, Number(header.extFields.queueOffset)),
      );
      at += 4 + size;
      continue;
    }
    const offset = log.append(
      bytes.subarray(at + 8 + headerSize, at + 4 + size),
    );
    answers.push(answerOf(header.opaque, header.extFields.e ?? "0", offset));
    at += 4 + size;
  }
  return bytes.subarray(at);
}

function answerOf(opaque: number, queueId: string, offset: number): Uint8Array {
  return frameOf(
    `{"code":0,"extFields":{"queueId":"${queueId}","TRACE_ON":"true","MSG_REGION":"DefaultRegion","msgId":"7F00000100002A9F${
      offset.toString(16).padStart(16, "0")
    }","queueOffset":"${offset}"},"flag":1,"language":"JAVA","opaque":${opaque},"serializeTypeCurrentRPC":"JSON","version":479}`,
    new Uint8Array(0),
  );
}

/** Finds 32 messages of 1 KiB for every pull. */
function pullAnswerOf(opaque: number, offset: number): Uint8Array {
  return frameOf(
    `{"code":0,"extFields":{"suggestWhichBrokerId":"0","nextBeginOffset":"${
      offset + PULL_COUNT
    }","minOffset":"0","maxOffset":"1000000000"},"flag":1,"language":"JAVA","opaque":${opaque},"serializeTypeCurrentRPC":"JSON","version":479}`,
    log.read(new Uint8Array(PULL_COUNT * RECORD_SIZE)),
  );
}

function frameOf(header: string, body: Uint8Array): Uint8Array {
  const text = encoder.encode(header);
  const frame = new Uint8Array(8 + text.length + body.length);
  const view = new DataView(frame.buffer);
  view.setInt32(0, 4 + text.length + body.length);
  view.setInt32(4, text.length);
  frame.set(text, 8);
  frame.set(body, 8 + text.length);
  return frame;
}

function concat(parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, it) => sum + it.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const server = Bun.listen<State>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    binaryType: "uint8array",
    open(socket) {
      socket.data = { pending: new Uint8Array(0), unsent: [] };
      socket.setNoDelay(true);
    },
    data(socket, bytes) {
      const state = socket.data;
      const input = state.pending.length === 0
        ? bytes
        : concat([state.pending, bytes]);
      const answers: Uint8Array[] = [];
      state.pending = answerFrames(input, answers).slice();
      log.flush();
      state.unsent.push(...answers);
      send(socket);
    },
    drain: send,
  },
});

function send(socket: Bun.Socket<State>): void {
  const bytes = concat(socket.data.unsent);
  const taken = Math.max(0, socket.write(bytes));
  socket.data.unsent = taken < bytes.length ? [bytes.slice(taken)] : [];
}

console.log(`port ${server.port}`);
process.on("SIGTERM", () => {
  log.close();
  process.exit(0);
});
