/** SimFaults: what a test may make a simulated disk do. */

/** One call of `FileHandle.sync`, `FileSystem.syncDirectory` or `FileSystemSync.sync`. */
export interface SyncCall {
  /** Counts from 1 over the life of the disk. */
  readonly number: number;
  readonly kind: "file" | "directory" | "whole";
  readonly path: string;
}

/** Change the fields at any time; they hold from the next call on. */
export class SimFaults {
  /** Calls for which this holds answer "done" and do nothing. */
  dropSync: ((call: SyncCall) => boolean) | undefined;
  /** Calls for which this holds fail with EIO. */
  failSync: ((call: SyncCall) => boolean) | undefined;
  /** Reads of paths for which this holds fail with EIO. */
  failRead: ((path: string) => boolean) | undefined;
  /** Writes to paths for which this holds fail with EIO. */
  failWrite: ((path: string) => boolean) | undefined;
  /** Folders for which this holds are another user's: EACCES for new and removed names. */
  denyFolder: ((path: string) => boolean) | undefined;
  /** Everything that would change the disk fails with EROFS. */
  isReadOnly = false;
  /** Bytes of the disk, in whole pages of 4096; beyond them ENOSPC. */
  capacityBytes = Infinity;
  /** More open files than this fail with EMFILE. */
  openFilesMax = Infinity;
  /** From how many files on all are synced at once; Infinity: the disk cannot do that. */
  wholeSyncFilesMin = Infinity;
  /** Milliseconds that one sync takes; needs a clock. */
  syncDelayMs: (call: SyncCall) => number = () => 0;
  /** Milliseconds that one asynchronous read takes; needs a clock. */
  readDelayMs: (path: string) => number = () => 0;
}
