/**
 * ConsumeQueueFlusher: which queues and folders are not durable yet, and how they become so.
 *
 * Few queues are synced one by one. Many of them by one call for the whole file system, where
 * that is known to be good: each file of its own takes a round trip to the disk.
 */
import type { FileSystem, FileSystemSync } from "../io/file_system.ts";
import { Coalesced } from "./coalesced.ts";
import type { ConsumeQueue } from "./consume_queue.ts";
import { syncDirectories, withParents } from "./directories.ts";

/** Where the queues are. */
export interface ConsumeQueueFlusherPlace {
  readonly fileSystem: FileSystem;
  /** `consumequeue`, with a folder for each topic. */
  readonly directory: string;
}

/** Makes queues durable. */
export class ConsumeQueueFlusher {
  /** Folders above the queues whose names may not be durable. */
  readonly dirtyDirectories = new Set<string>();
  readonly #place: ConsumeQueueFlusherPlace;
  readonly #flushing = new Coalesced(() => this.#flushNow());
  #dirty = new Set<ConsumeQueue>();
  /** Null: it has been looked for and may not be used. */
  #whole: FileSystemSync | null | undefined;

  constructor(place: ConsumeQueueFlusherPlace) {
    this.#place = place;
  }

  add(queue: ConsumeQueue): void {
    this.#dirty.add(queue);
  }

  /** Its files are gone. */
  forget(queue: ConsumeQueue): void {
    this.#dirty.delete(queue);
  }

  /** What the process before this one made may have no durable name yet. */
  markDirectoriesUnsynced(topics: Iterable<string>): void {
    const { fileSystem, directory } = this.#place;
    if (fileSystem.stat(directory) === undefined) return;
    for (const topic of topics) {
      this.dirtyDirectories.add(`${directory}/${topic}`);
    }
    for (const it of withParents(directory, 2)) this.dirtyDirectories.add(it);
  }

  /**
   * Prepares the sync of the whole file system: early, so that it is told of every failed write.
   * A topic's folder on another disk rules it out.
   */
  openWhole(topics: Iterable<string>): void {
    const { fileSystem, directory } = this.#place;
    if (this.#whole !== undefined) return;
    if (fileSystem.stat(directory) === undefined) return;
    const whole = fileSystem.openFileSystemSync(directory) ?? null;
    this.#whole = whole;
    if (whole === null) return;
    for (const topic of topics) {
      if (whole.holds(`${directory}/${topic}`)) continue;
      whole.close();
      this.#whole = null;
      return;
    }
  }

  /** Makes what was added so far durable. Rejects for ever once a sync has failed. */
  flush(): Promise<void> {
    return this.#flushing.run();
  }

  close(): void {
    this.#whole?.close();
    this.#whole = null;
  }

  async #flushNow(): Promise<void> {
    this.openWhole([]);
    const dirty = this.#dirty;
    this.#dirty = new Set();
    try {
      await this.#flushWhole(dirty);
      await syncDirectories(this.#place.fileSystem, this.dirtyDirectories);
      for (const queue of dirty) {
        await queue.mappedFileQueue.flush();
        dirty.delete(queue);
      }
    } catch (error) {
      for (const queue of dirty) this.#dirty.add(queue);
      throw error;
    }
  }

  /** Takes out of `dirty` what is durable afterwards. */
  async #flushWhole(dirty: Set<ConsumeQueue>): Promise<void> {
    const whole = this.#whole ?? undefined;
    if (whole === undefined || dirty.size < whole.filesMin) return;
    const queues = [...dirty];
    // Its own sync, behind that of all, makes the device write out what it was given.
    const last = queues.find((it) => it.mappedFileQueue.isDirty);
    if (last === undefined) return;
    const covered = queues.filter((it) =>
      it !== last && it.mappedFileQueue.beginWholeSync()
    );
    const directories = [...this.dirtyDirectories];
    this.dirtyDirectories.clear();
    const isDone = await whole.sync();
    for (const it of covered) {
      it.mappedFileQueue.endWholeSync(isDone);
      if (isDone) dirty.delete(it);
    }
    if (isDone) return;
    for (const it of directories) this.dirtyDirectories.add(it);
  }
}
