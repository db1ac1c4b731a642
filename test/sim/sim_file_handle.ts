/** SimFileHandle: one open file on a simulated disk. */
import { FileError, type FileHandle } from "../../src/io/file_system.ts";
import { fileErrorOf } from "../../src/runtime/node_file_error.ts";
import type { SimFile } from "./sim_file.ts";
import type { SimFileSystem } from "./sim_file_system.ts";

export class SimFileHandle implements FileHandle {
  readonly path: string;
  readonly #disk: SimFileSystem;
  readonly #file: SimFile;
  readonly #isWritable: boolean;
  readonly #life: number;
  #isOpen = true;

  constructor(
    disk: SimFileSystem,
    file: SimFile,
    path: string,
    isWritable: boolean,
    life: number,
  ) {
    this.#disk = disk;
    this.#file = file;
    this.path = path;
    this.#isWritable = isWritable;
    this.#life = life;
  }

  readAt(position: number, target: Uint8Array): void {
    this.#check("read");
    this.#read(position, target);
  }

  async readAtAsync(position: number, target: Uint8Array): Promise<void> {
    this.#check("read");
    await this.#disk.runRead(this.path);
    this.#read(position, target); // Closing waits for reads that run.
  }

  writeAt(position: number, source: Uint8Array): void {
    this.#checkWrite("write");
    if (this.#disk.faults.failWrite?.(this.path)) throw this.#error("write");
    for (let done = 0; done < source.length;) {
      const rest = source.length - done;
      const at = position + done;
      const count = this.#disk.roomFor(this.#file.current, at, rest);
      if (count === 0) throw this.#error("write", "ENOSPC");
      this.#file.write(at, source.subarray(done, done + count));
      done += count;
    }
    this.#disk.touch(this.#file);
  }

  async sync(): Promise<void> {
    this.#check("sync");
    const sequence = this.#file.sequence;
    await this.#disk.runSync("file", this.path, (isWell) => {
      if (isWell) this.#file.commit(sequence);
      else this.#file.abandon(sequence);
    });
  }

  truncate(size: number): void {
    this.#checkWrite("truncate");
    this.#file.truncate(size);
    this.#disk.touch(this.#file);
  }

  size(): number {
    this.#check("measure");
    return this.#file.current.size;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#disk.isAlive(this.#life)) this.#disk.released();
  }

  #read(position: number, target: Uint8Array): void {
    if (this.#disk.faults.failRead?.(this.path)) throw this.#error("read");
    if (target.length === 0) return;
    if (this.#file.current.read(position, target)) return;
    throw new FileError(
      `Cannot read ${target.length} bytes at ${position} of ${this.path}: ` +
        `the file ends at ${this.#file.current.size}`,
      "short-read",
      this.path,
    );
  }

  #check(action: string): void {
    if (this.#isOpen && this.#disk.isAlive(this.#life)) return;
    const reason = this.#isOpen ? "the power went" : "it has been closed";
    throw new FileError(
      `Cannot ${action} ${this.path}: ${reason}`,
      "other",
      this.path,
    );
  }

  #checkWrite(action: string): void {
    this.#check(action);
    this.#disk.checkWrite(action, this.path);
    if (!this.#isWritable) throw this.#error(action, "EBADF");
  }

  #error(action: string, code = "EIO"): FileError {
    return fileErrorOf(action, this.path, { code });
  }
}
