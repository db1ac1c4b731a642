/** Coalesced: one piece of work at a time; calls during a run share the run after it. */
export class Coalesced {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves or rejects with a run that began after this call. */
  run(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#work().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    if (this.#next === undefined) {
      const again = () => {
        this.#next = undefined;
        return this.run();
      };
      this.#next = this.#running.then(again, again);
    }
    return this.#next;
  }
}
