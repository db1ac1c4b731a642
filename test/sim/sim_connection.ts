/** SimConnection: one end of a simulated TCP connection. */
import type { Clock } from "../../src/io/clock.ts";
import type { Connection, ConnectionEvents } from "../../src/io/network.ts";
import type { SimLink } from "./sim_link.ts";

/** Bytes under way or unread by the peer; beyond them `write` queues. */
const WINDOW_SIZE = 256 * 1024;

/** Bytes of one delivery. */
const SEGMENT_SIZE = 64 * 1024;

/** How long a closing connection may take to send what it holds. */
const CLOSE_MAX_MS = 1000;

const ignore: ConnectionEvents = { onData() {}, onDrain() {}, onClose() {} };

/**
 * Invariants
 * - `#underWay` bytes are on the link or unread at the peer, never more than
 *   the window; `#queue` holds what comes after them.
 */
export class SimConnection implements Connection {
  readonly localAddress: string;
  readonly remoteAddress: string;
  readonly #clock: Clock;
  readonly #link: SimLink;
  #peer: SimConnection | undefined;
  #events = ignore;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #underWay = 0;
  #unread: Uint8Array[] = [];
  #isPaused = false;
  #hasPeerEnded = false;
  #state: "open" | "closing" | "closed" = "open";
  #isDead = false;

  /** `link` leads from this end to the other. */
  constructor(clock: Clock, link: SimLink, local: string, remote: string) {
    this.#clock = clock;
    this.#link = link;
    this.localAddress = local;
    this.remoteAddress = remote;
  }

  /** Joins both ends. */
  static join(one: SimConnection, other: SimConnection): void {
    one.#peer = other;
    other.#peer = one;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  get isClosed(): boolean {
    return this.#state === "closed";
  }

  attach(events: ConnectionEvents): void {
    this.#events = events;
  }

  write(bytes: Uint8Array): number {
    if (this.#state !== "open") return 0;
    this.#queue.push(bytes.slice());
    this.#queuedBytes += bytes.length;
    this.#pump();
    return this.#queuedBytes;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    queueMicrotask(() => this.#deliver());
  }

  close(): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#clock.after(CLOSE_MAX_MS, () => this.terminate());
    this.#pump();
  }

  terminate(): void {
    if (this.#state === "closed") return;
    const peer = this.#peer;
    this.#link.send(0, () => peer?.end("ECONNRESET"));
    this.end(null);
  }

  /** The end of this side, from whatever cause. */
  end(reason: string | null): void {
    if (this.#state === "closed" || this.#isDead) return;
    this.#state = "closed";
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#unread = [];
    queueMicrotask(() => this.#guard(() => this.#events.onClose(reason)));
  }

  /** The host lost power: nothing happens here any more, and nobody is told. */
  die(): void {
    this.#isDead = true;
    this.#state = "closed";
  }

  #pump(): void {
    const peer = this.#peer!;
    const hadQueue = this.#queuedBytes > 0;
    while (this.#queue.length > 0 && this.#underWay < WINDOW_SIZE) {
      const head = this.#queue[0]!;
      const room = Math.min(WINDOW_SIZE - this.#underWay, SEGMENT_SIZE);
      const segment = head.subarray(0, room);
      if (segment.length === head.length) this.#queue.shift();
      else this.#queue[0] = head.subarray(room);
      this.#queuedBytes -= segment.length;
      this.#underWay += segment.length;
      this.#link.send(segment.length, () => peer.#receive(segment));
    }
    if (this.#queue.length > 0) return;
    if (this.#state === "closing") this.#finish();
    else if (hadQueue) this.#drained();
  }

  #drained(): void {
    queueMicrotask(() => {
      const isIdle = this.#state === "open" && this.#queuedBytes === 0;
      if (isIdle) this.#guard(() => this.#events.onDrain());
    });
  }

  #finish(): void {
    const peer = this.#peer!;
    this.#link.send(0, () => {
      peer.#hasPeerEnded = true;
      peer.#deliver();
    });
    this.end(null);
  }

  #receive(segment: Uint8Array): void {
    if (this.#state !== "open") return;
    this.#unread.push(segment);
    this.#deliver();
  }

  #deliver(): void {
    while (!this.#isPaused && this.#unread.length > 0) {
      const segment = this.#unread.shift()!;
      if (this.#state === "open") {
        this.#guard(() => this.#events.onData(segment));
      }
      this.#peer!.#taken(segment.length);
    }
    if (this.#hasPeerEnded && this.#unread.length === 0) this.end(null);
  }

  #taken(size: number): void {
    this.#underWay -= size;
    if (this.#state !== "closed") this.#pump();
  }

  /** As in the real adapters: a listener that throws loses its connection. */
  #guard(run: () => void): void {
    if (this.#isDead) return;
    try {
      run();
    } catch (error) {
      this.end(error instanceof Error ? error.message : String(error));
      const peer = this.#peer;
      this.#link.send(0, () => peer?.end("ECONNRESET"));
    }
  }
}
