/** FileSyncer: makes an open file durable without holding up the event loop. */

/** `data`: content and length (fdatasync). `all`: everything, for folders (fsync). */
export type SyncScope = "data" | "all";

/** Runs syncs. Rejects with the system's error, whose `code` names it. */
export interface FileSyncer {
  sync(descriptor: number, scope: SyncScope): Promise<void>;
}
