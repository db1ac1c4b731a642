/** DenoFileSyncer: syncs on Deno's pool of blocking calls, which grows on demand. */
import { fdatasync, fsync } from "node:fs";
import type { FileSyncer, SyncScope } from "./file_syncer.ts";

/** Syncs of the Deno runtime. */
export class DenoFileSyncer implements FileSyncer {
  sync(descriptor: number, scope: SyncScope): Promise<void> {
    return new Promise((resolve, reject) => {
      const run = scope === "data" ? fdatasync : fsync;
      run(descriptor, (error) => error ? reject(error) : resolve());
    });
  }
}
