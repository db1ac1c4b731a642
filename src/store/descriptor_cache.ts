/**
 * DescriptorCache: bounds how many files of the store are open at once.
 *
 * Invariants
 * - A pinned file (a sync or an asynchronous read is running) is never closed.
 * - Clean files go before dirty ones. Closing a dirty file loses nothing: its bytes are in the
 *   page cache, and a sync through a later descriptor covers the whole file.
 */

/** A file whose descriptor may be closed and opened again. */
export interface CachedFile {
  /** Set on every use, cleared when the cache passes by: second chance. */
  isRecentlyUsed: boolean;
  readonly isPinned: boolean;
  readonly isDirty: boolean;
  closeDescriptor(): void;
}

/** As many queues as fit below the usual limit of 1024 descriptors, with sockets. */
export const OPEN_FILES_MAX_DEFAULT = 512;

/** How many dirty files are passed over in search of a clean one. */
const DIRTY_TRIES = 8;

/** Open files as a ring, closed by second chance. */
export class DescriptorCache {
  readonly #open = new Set<CachedFile>();

  constructor(public openFilesMax: number = OPEN_FILES_MAX_DEFAULT) {}

  get openCount(): number {
    return this.#open.size;
  }

  /** To be called before a descriptor is opened: makes room. */
  beforeOpen(file: CachedFile): void {
    while (this.#open.size >= this.openFilesMax) {
      const victim = this.#victim();
      // Everything is pinned: more than the bound for a moment beats a failed read.
      if (victim === undefined) break;
      this.#open.delete(victim);
      victim.closeDescriptor();
    }
    this.#open.add(file);
  }

  /** The file was closed by its owner. */
  forget(file: CachedFile): void {
    this.#open.delete(file);
  }

  /** What is passed over goes to the back, so that a search costs little however many are open. */
  #victim(): CachedFile | undefined {
    let dirty: CachedFile | undefined;
    let tries = 2 * this.#open.size;
    let dirtyTries = DIRTY_TRIES;
    for (const file of this.#open) {
      if (tries-- === 0) break;
      if (!file.isPinned && !file.isRecentlyUsed) {
        if (!file.isDirty) return file;
        dirty ??= file;
        if (--dirtyTries === 0) break;
      }
      file.isRecentlyUsed = false;
      this.#open.delete(file);
      this.#open.add(file);
    }
    return dirty;
  }
}
