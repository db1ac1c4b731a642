/** Outbox: gathers the frames of one loop turn into one socket write. */
import type { Connection } from "../io/network.ts";
import type { ByteWriter } from "../protocol/byte_writer.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import {
  writeCommand,
  writeCommandHead,
} from "../protocol/remoting_command_codec.ts";
import type { RemotingCounters } from "./remoting_counters.ts";
import type { WriterPool } from "./writer_pool.ts";

/** A larger body is written by itself: copying it would cost more than a call. */
const BODY_COPIED_MAX = 32 * 1024;
/** Gathering more than this gains nothing. */
const GATHERED_MAX = 64 * 1024;
const TURN_END = Promise.resolve();

/**
 * The send side of one connection. While corked, frames wait for `uncork`;
 * else for the microtask that runs after those queued already, so that the
 * answers to a whole group of resolved promises go out together.
 */
export class Outbox {
  readonly #writers: WriterPool;
  readonly #counters: RemotingCounters;
  readonly #onFlushed: () => void;
  #connection: Connection | null = null;
  #writer: ByteWriter | null = null;
  #isCorked = false;
  #isScheduled = false;
  #isClosed = false;
  #writtenBytes = 0;

  constructor(
    writers: WriterPool,
    counters: RemotingCounters,
    onFlushed: () => void,
  ) {
    this.#writers = writers;
    this.#counters = counters;
    this.#onFlushed = onFlushed;
  }

  /** Bytes that the kernel has not taken yet. */
  get queuedBytes(): number {
    return this.#connection?.queuedBytes ?? 0;
  }

  /** Bytes that the kernel has taken so far. */
  get sentBytes(): number {
    return this.#writtenBytes - this.queuedBytes;
  }

  /** True when nothing waits, here or in the connection. */
  get isEmpty(): boolean {
    return (this.#writer?.length ?? 0) === 0 && this.queuedBytes === 0;
  }

  /** Sends to `connection` from now on, first what has gathered. */
  attach(connection: Connection): void {
    this.#connection = connection;
    this.flush();
  }

  cork(): void {
    this.#isCorked = true;
  }

  uncork(): void {
    this.#isCorked = false;
    this.flush();
  }

  /** Takes one frame. Throws `RangeError`, with nothing taken, when it is too large. */
  send(command: RemotingCommand): void {
    if (this.#isClosed) return;
    const writer = this.#writer ??= this.#writers.take();
    const { body } = command;
    if (body.length > BODY_COPIED_MAX && this.#connection !== null) {
      writeCommandHead(writer, command);
      this.#write(writer);
      this.#writtenBytes += body.length;
      this.#counters.bytesOut += body.length;
      this.#connection.write(body);
      command.onWritten?.();
      return this.#onFlushed();
    }
    writeCommand(writer, command);
    command.onWritten?.();
    if (writer.length > GATHERED_MAX) this.flush();
    else if (!this.#isCorked && !this.#isScheduled) this.#schedule();
  }

  /** Writes what has gathered. */
  flush(): void {
    const writer = this.#writer;
    if (writer === null || this.#connection === null) return;
    this.#writer = null;
    const hasBytes = writer.length > 0;
    if (hasBytes) this.#write(writer);
    this.#writers.giveBack(writer);
    if (hasBytes) this.#onFlushed();
  }

  /** Drops what has gathered and all that comes. */
  close(): void {
    this.#isClosed = true;
    if (this.#writer !== null) this.#writers.giveBack(this.#writer);
    this.#writer = null;
  }

  #write(writer: ByteWriter): void {
    this.#writtenBytes += writer.length;
    this.#counters.bytesOut += writer.length;
    this.#connection!.write(writer.view());
    writer.truncate(0);
  }

  #schedule(): void {
    this.#isScheduled = true;
    void TURN_END.then(() => {
      this.#isScheduled = false;
      if (!this.#isCorked) this.flush();
    });
  }
}
