/** NodeFileHandle: one open file over node:fs, which measured best on both runtimes. */
import {
  close,
  closeSync,
  fstatSync,
  ftruncateSync,
  read,
  readSync,
  writeSync,
} from "node:fs";
import { FileError, type FileHandle } from "../io/file_system.ts";
import type { FileSyncer } from "./file_syncer.ts";
import { fileErrorOf } from "./node_file_error.ts";
import { readGate } from "./read_gate.ts";

/**
 * Invariants
 * - The descriptor is closed only when no asynchronous call uses it, so that
 *   its number cannot come to mean another file under a running sync.
 */
export class NodeFileHandle implements FileHandle {
  readonly path: string;
  readonly #descriptor: number;
  readonly #syncer: FileSyncer;
  #isOpen = true;
  #running = 0;

  constructor(path: string, descriptor: number, syncer: FileSyncer) {
    this.path = path;
    this.#descriptor = descriptor;
    this.#syncer = syncer;
  }

  readAt(position: number, target: Uint8Array): void {
    this.#check("read");
    let done = 0;
    while (done < target.length) {
      const count = this.#readSome(position + done, target, done);
      if (count === 0) throw this.#shortRead(position, target.length, done);
      done += count;
    }
  }

  writeAt(position: number, source: Uint8Array): void {
    this.#check("write");
    let done = 0;
    try {
      while (done < source.length) {
        done += writeSync(
          this.#descriptor,
          source,
          done,
          source.length - done,
          position + done,
        );
      }
    } catch (error) {
      throw fileErrorOf("write", this.path, error);
    }
  }

  async readAtAsync(position: number, target: Uint8Array): Promise<void> {
    this.#check("read");
    this.#running++;
    try {
      await readGate.run(() => this.#readAll(position, target));
    } finally {
      this.#finish();
    }
  }

  async sync(): Promise<void> {
    this.#check("sync");
    this.#running++;
    try {
      await this.#syncer.sync(this.#descriptor, "data");
    } catch (error) {
      throw fileErrorOf("sync", this.path, error);
    } finally {
      this.#finish();
    }
  }

  truncate(size: number): void {
    this.#check("truncate");
    try {
      ftruncateSync(this.#descriptor, size);
    } catch (error) {
      throw fileErrorOf("truncate", this.path, error);
    }
  }

  size(): number {
    this.#check("measure");
    try {
      return fstatSync(this.#descriptor).size;
    } catch (error) {
      throw fileErrorOf("measure", this.path, error);
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#running === 0) closeSync(this.#descriptor);
  }

  #readSome(position: number, target: Uint8Array, done: number): number {
    try {
      const wanted = target.length - done;
      return readSync(this.#descriptor, target, done, wanted, position);
    } catch (error) {
      throw fileErrorOf("read", this.path, error);
    }
  }

  async #readAll(position: number, target: Uint8Array): Promise<void> {
    let done = 0;
    while (done < target.length) {
      const count = await this.#readSomeAsync(position + done, target, done);
      if (count === 0) throw this.#shortRead(position, target.length, done);
      done += count;
    }
  }

  #readSomeAsync(
    position: number,
    target: Uint8Array,
    done: number,
  ): Promise<number> {
    return new Promise((resolve, reject) => {
      const wanted = target.length - done;
      read(this.#descriptor, target, done, wanted, position, (error, count) => {
        if (error) reject(fileErrorOf("read", this.path, error));
        else resolve(count);
      });
    });
  }

  #finish(): void {
    this.#running--;
    if (this.#isOpen || this.#running > 0) return;
    close(this.#descriptor, () => {}); // Nothing is left that could be lost.
  }

  #check(action: string): void {
    if (this.#isOpen) return;
    throw new FileError(
      `Cannot ${action} ${this.path}: it has been closed`,
      "other",
      this.path,
    );
  }

  #shortRead(position: number, wanted: number, got: number): FileError {
    return new FileError(
      `Cannot read ${wanted} bytes at ${position} of ${this.path}: ` +
        `the file ends after ${got} of them`,
      "short-read",
      this.path,
    );
  }
}
