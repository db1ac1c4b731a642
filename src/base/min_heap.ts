/** MinHeap: takes items in any order and gives the one with the smallest key first, in O(log n). */
export class MinHeap<T> {
  readonly #keys: number[] = [];
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The item with the smallest key. */
  peek(): T | undefined {
    return this.#items[0];
  }

  /** The smallest key. */
  peekKey(): number | undefined {
    return this.#keys[0];
  }

  push(key: number, item: T): void {
    let at = this.#items.length;
    this.#keys.push(key);
    this.#items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#keys[parent]! <= key) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#keys[at] = key;
    this.#items[at] = item;
  }

  /** Removes and gives the item with the smallest key. */
  pop(): T | undefined {
    const top = this.#items[0];
    const item = this.#items.pop();
    const key = this.#keys.pop();
    if (item !== undefined && this.#items.length > 0) this.#sink(key!, item);
    return top;
  }

  #sink(key: number, item: T): void {
    const size = this.#items.length;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      const right = child + 1;
      if (right < size && this.#keys[right]! < this.#keys[child]!) {
        child = right;
      }
      if (this.#keys[child]! >= key) break;
      this.#move(child, at);
      at = child;
    }
    this.#keys[at] = key;
    this.#items[at] = item;
  }

  #move(from: number, to: number): void {
    this.#keys[to] = this.#keys[from]!;
    this.#items[to] = this.#items[from]!;
  }
}
