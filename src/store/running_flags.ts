/**
 * RunningFlags: why the store takes no writes at the moment.
 *
 * A cause is set and cleared by whoever watches it; the store is writable when there is none.
 * `sync-failed` and `files-removed` are never cleared: what the kernel dropped cannot be written
 * again, and open files without a name are no store.
 */

/** What can stop writes. */
export type UnwritableCause =
  | "not-started"
  | "shutdown"
  | "slave"
  | "sync-failed"
  | "files-removed"
  | "disk-full"
  | "dispatch-failed"
  | "start-unfinished"
  | "fenced";

/** The causes in force, each with its sentence. */
export class RunningFlags {
  readonly #reasons = new Map<UnwritableCause, string>();
  #reason: string | null = null;

  get isWritable(): boolean {
    return this.#reason === null;
  }

  /** One sentence, null when writable. */
  get unwritableReason(): string | null {
    return this.#reason;
  }

  /** Why not even a master's bytes are taken: any cause but the role. Null when they are. */
  get unappendableReason(): string | null {
    for (const [cause, reason] of this.#reasons) {
      if (cause !== "slave") return reason;
    }
    return null;
  }

  has(cause: UnwritableCause): boolean {
    return this.#reasons.has(cause);
  }

  /** Its sentence; undefined when it is not in force. */
  reasonOf(cause: UnwritableCause): string | undefined {
    return this.#reasons.get(cause);
  }

  set(cause: UnwritableCause, reason: string): void {
    this.#reasons.set(cause, reason);
    this.#refresh();
  }

  clear(cause: UnwritableCause): void {
    if (cause === "sync-failed" || cause === "files-removed") return;
    if (this.#reasons.delete(cause)) this.#refresh();
  }

  #refresh(): void {
    const [first] = this.#reasons.values();
    this.#reason = first ?? null;
  }
}
