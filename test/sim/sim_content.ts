/** SimContent: the bytes of one simulated file; holes cost nothing. */

/** Bytes of one page, the unit in which a simulated disk is used up. */
export const PAGE_SIZE = 4096;

export class SimContent {
  #size = 0;
  #pages = new Map<number, Uint8Array>();

  get size(): number {
    return this.#size;
  }

  get pageCount(): number {
    return this.#pages.size;
  }

  /** Pages that `write` would have to add. */
  missingPages(position: number, size: number): number {
    let count = 0;
    const end = position + size;
    for (let page = Math.floor(position / PAGE_SIZE); page * PAGE_SIZE < end;) {
      if (!this.#pages.has(page++)) count++;
    }
    return count;
  }

  write(position: number, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      const at = position + done;
      const offset = at % PAGE_SIZE;
      const count = Math.min(PAGE_SIZE - offset, bytes.length - done);
      const page = this.#page((at - offset) / PAGE_SIZE);
      page.set(bytes.subarray(done, done + count), offset);
      done += count;
    }
    this.#size = Math.max(this.#size, position + bytes.length);
  }

  /** Fills `target`; false when the content ends before. */
  read(position: number, target: Uint8Array): boolean {
    if (position + target.length > this.#size) return false;
    for (let done = 0; done < target.length;) {
      const at = position + done;
      const offset = at % PAGE_SIZE;
      const count = Math.min(PAGE_SIZE - offset, target.length - done);
      const page = this.#pages.get((at - offset) / PAGE_SIZE);
      if (page) target.set(page.subarray(offset, offset + count), done);
      else target.fill(0, done, done + count);
      done += count;
    }
    return true;
  }

  truncate(size: number): void {
    if (size < this.#size) {
      const kept = Math.ceil(size / PAGE_SIZE);
      for (const page of this.#pages.keys()) {
        if (page >= kept) this.#pages.delete(page);
      }
      const offset = size % PAGE_SIZE;
      if (offset > 0) this.#pages.get(kept - 1)?.fill(0, offset);
    }
    this.#size = size;
  }

  clone(): SimContent {
    const copy = new SimContent();
    copy.#size = this.#size;
    for (const [index, page] of this.#pages) {
      copy.#pages.set(index, page.slice());
    }
    return copy;
  }

  #page(index: number): Uint8Array {
    let page = this.#pages.get(index);
    if (!page) this.#pages.set(index, page = new Uint8Array(PAGE_SIZE));
    return page;
  }
}
