/**
 * `syncFs` through bun:ffi, in a thread of its own: a call may take seconds, and no other sync
 * must wait behind it. The thread costs some megabytes, which only a broker with hundreds of busy
 * queues pays; once started it stays, for ending threads is what Bun does least well.
 */
import process from "node:process";
import { cLibraryNames } from "./posix_lock.ts";

/** As text, so that the executable needs no second file to start it from. */
const THREAD_SOURCE = `
const { dlopen } = require("bun:ffi");
let syncfs;
self.onmessage = ({ data: [names, descriptor] }) => {
  for (const name of names) {
    if (syncfs !== undefined) break;
    try {
      const args = { args: ["i32"], returns: "i32" };
      syncfs = dlopen(name, { syncfs: args }).symbols.syncfs;
    } catch {
      // Of another C library.
    }
  }
  postMessage(syncfs !== undefined && syncfs(descriptor) === 0);
};`;

/** A worker as Bun has it: it can be kept from holding up the exit. */
type ThreadHandle = Worker & Pick<Bun.Worker, "ref" | "unref">;

/** Answers come in the order of the calls. */
class SyncFsThread {
  readonly #worker: ThreadHandle;
  readonly #waiting: ((isDone: boolean) => void)[] = [];

  constructor(onEnd: () => void) {
    const type = "application/javascript";
    const url = URL.createObjectURL(new Blob([THREAD_SOURCE], { type }));
    const options = { smol: true, name: "sync-fs" };
    this.#worker = new Worker(url, options) as ThreadHandle;
    this.#worker.onmessage = ({ data }) => this.#settle(data === true);
    this.#worker.onerror = () => {
      onEnd();
      while (this.#waiting.length > 0) this.#settle(false);
    };
    this.#worker.unref();
  }

  call(descriptor: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#worker.ref();
      const names = cLibraryNames(process.platform, process.arch);
      this.#worker.postMessage([names, descriptor]);
    });
  }

  #settle(isDone: boolean): void {
    this.#waiting.shift()?.(isDone);
    if (this.#waiting.length === 0) this.#worker.unref();
  }
}

/** One for the whole process, however many runtimes are opened. */
let thread: SyncFsThread | undefined;

/** True when everything of the descriptor's file system was written. */
export function syncFs(descriptor: number): Promise<boolean> {
  thread ??= new SyncFsThread(() => thread = undefined);
  return thread.call(descriptor);
}
