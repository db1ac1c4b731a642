/**
 * The bare copy that catch-up is measured against: bytes of a log from files to a socket to files,
 * in batches of the same size, with nothing decided, parsed, checked or dispatched. Two processes
 * under Bun: `bare_copy.ts source FOLDER BYTES`, which prints its port and serves every connection
 * from the first byte on, and `bare_copy.ts target PORT FILE BYTES`, which prints `{seconds,bytes}`.
 */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  writeSync,
} from "node:fs";
import process from "node:process";

/** As a batch of replication at full speed. */
const BATCH_SIZE = 1024 * 1024;

/** The files of a folder, in their order, as one row of bytes. */
class SourceFiles {
  readonly #files: { descriptor: number; size: number }[];

  constructor(folder: string) {
    this.#files = readdirSync(folder).sort().map((name) => {
      const descriptor = openSync(`${folder}/${name}`, "r");
      return { descriptor, size: fstatSync(descriptor).size };
    });
  }

  /** Fills `target` from `offset` on, within one file; how many bytes there are. */
  read(offset: number, target: Uint8Array): number {
    let position = offset;
    for (const { descriptor, size } of this.#files) {
      if (position >= size) {
        position -= size;
        continue;
      }
      const wanted = Math.min(target.length, size - position);
      return readSync(descriptor, target, 0, wanted, position);
    }
    throw new Error(`No byte ${offset} in the files of the source`);
  }
}

/** What one connection has been sent. */
interface Sending {
  offset: number;
  batch: Uint8Array;
  /** The part of `batch` that the socket has not taken. */
  rest: Uint8Array;
}

function serve(folder: string, bytes: number): void {
  const files = new SourceFiles(folder);
  const send = (socket: Bun.Socket<Sending>) => {
    const state = socket.data;
    for (;;) {
      if (state.rest.length === 0) {
        if (state.offset === bytes) return;
        const size = Math.min(BATCH_SIZE, bytes - state.offset);
        const read = files.read(state.offset, state.batch.subarray(0, size));
        state.rest = state.batch.subarray(0, read);
        state.offset += read;
      }
      const taken = Math.max(0, socket.write(state.rest));
      state.rest = state.rest.subarray(taken);
      if (state.rest.length > 0) return; // `drain` goes on.
    }
  };
  const server = Bun.listen<Sending>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        const batch = new Uint8Array(BATCH_SIZE);
        socket.data = { offset: 0, batch, rest: batch.subarray(0, 0) };
        send(socket);
      },
      data() {},
      drain: send,
    },
  });
  console.log(`port ${server.port}`);
}

async function copy(port: number, path: string, bytes: number): Promise<void> {
  const descriptor = openSync(path, "w");
  ftruncateSync(descriptor, bytes);
  const done = Promise.withResolvers<void>();
  let position = 0;
  const startedAt = performance.now();
  await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      binaryType: "uint8array",
      data(_socket, chunk) {
        for (let from = 0; from < chunk.length;) {
          const left = chunk.length - from;
          const written = writeSync(descriptor, chunk, from, left, position);
          from += written;
          position += written;
        }
        if (position === bytes) done.resolve();
      },
      close: () => done.reject(new Error(`The source left at ${position}`)),
      drain() {},
    },
  });
  await done.promise;
  const seconds = (performance.now() - startedAt) / 1000;
  closeSync(descriptor);
  console.log(JSON.stringify({ seconds, bytes }));
  process.exit(0);
}

const [role, ...rest] = process.argv.slice(2);
if (role === "source") serve(rest[0]!, Number(rest[1]));
else await copy(Number(rest[0]), rest[1]!, Number(rest[2]));
