/**
 * BunFileSyncer: syncs that no read can hold up.
 *
 * Bun's I/O pool has as many threads as the machine has cores: on two cores
 * two reads from a stalled device would hold up every sync behind them. So the
 * first sync that meets a running read starts a thread that nothing else uses.
 * It costs about 6 MB, which a broker whose readers keep up never pays; once
 * started it stays.
 */
import { fdatasync, fsync } from "node:fs";
import type { FileSyncer, SyncScope } from "./file_syncer.ts";
import { readGate } from "./read_gate.ts";

/** To the thread: ticket, descriptor, scope. */
type SyncRequest = readonly [number, number, SyncScope];
/** From the thread: ticket, and the error's code and text if it failed. */
type SyncAnswer = readonly [number, string | null, string | null];

/** As text, so that the executable needs no second file to start it from. */
const THREAD_SOURCE = `
const { fdatasyncSync, fsyncSync } = require("node:fs");
self.onmessage = ({ data: [ticket, descriptor, scope] }) => {
  try {
    (scope === "data" ? fdatasyncSync : fsyncSync)(descriptor);
    postMessage([ticket, null, null]);
  } catch (error) {
    postMessage([ticket, String(error.code), String(error.message)]);
  }
};`;

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** A worker as Bun has it: it can be kept from holding up the exit. */
type ThreadHandle = Worker & Pick<Bun.Worker, "ref" | "unref">;

class SyncThread {
  readonly #worker: ThreadHandle;
  readonly #waiting = new Map<number, Waiter>();
  #lastTicket = 0;

  constructor(onEnd: () => void) {
    const type = "application/javascript";
    const url = URL.createObjectURL(new Blob([THREAD_SOURCE], { type }));
    const options = { smol: true, name: "file-sync" };
    this.#worker = new Worker(url, options) as ThreadHandle;
    this.#worker.onmessage = (event) => this.#settle(event.data as SyncAnswer);
    this.#worker.onerror = (event) => {
      onEnd();
      this.#fail(event.message);
    };
    this.#worker.unref();
  }

  sync(descriptor: number, scope: SyncScope): Promise<void> {
    const ticket = ++this.#lastTicket;
    const request: SyncRequest = [ticket, descriptor, scope];
    return new Promise((resolve, reject) => {
      this.#waiting.set(ticket, { resolve, reject });
      if (this.#waiting.size === 1) this.#worker.ref();
      this.#worker.postMessage(request);
    });
  }

  #settle([ticket, code, message]: SyncAnswer): void {
    const waiter = this.#waiting.get(ticket);
    this.#waiting.delete(ticket);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (code === null) waiter?.resolve();
    else waiter?.reject(Object.assign(new Error(message ?? code), { code }));
  }

  #fail(reason: string): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#worker.unref();
    const error = new Error(`The sync thread ended: ${reason}`);
    for (const waiter of waiting) waiter.reject(error);
  }
}

function syncOnPool(descriptor: number, scope: SyncScope): Promise<void> {
  return new Promise((resolve, reject) => {
    const run = scope === "data" ? fdatasync : fsync;
    run(descriptor, (error) => error ? reject(error) : resolve());
  });
}

/** One thread for the whole process, however many runtimes are opened. */
let thread: SyncThread | undefined;

/** Syncs of the Bun runtime. */
export class BunFileSyncer implements FileSyncer {
  sync(descriptor: number, scope: SyncScope): Promise<void> {
    if (thread === undefined) {
      if (readGate.running === 0) return syncOnPool(descriptor, scope);
      thread = new SyncThread(() => thread = undefined);
    }
    return thread.sync(descriptor, scope);
  }
}
