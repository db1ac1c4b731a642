/**
 * DeletedTopics: from which offset of the log on the records of a deleted topic count.
 *
 * Records stay in the log when their topic goes, and dispatch reads them again after an unclean
 * stop. `config/deletedTopics.json` keeps them from coming back, also when a topic of the same
 * name is there by now: `{"minPhyOffsets":{"<topic>":<offset>}}`. Ours; Apache has none.
 *
 * Invariants
 * - No offset lies beyond the end of the log when records are appended: `limitTo`.
 * - A topic leaves the table when the log begins behind its offset.
 */
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { JsonFile } from "./json_file.ts";

/** Topic to the first offset whose records are its own. */
type MinPhyOffsets = Map<string, number>;

/** Where the file is. */
function pathOf(root: string): string {
  return `${root}/config/deletedTopics.json`;
}

/** The table and its file. */
export class DeletedTopics {
  readonly #file: JsonFile;
  #minPhyOffsets: MinPhyOffsets = new Map();
  /** Highest of the offsets: records beyond it, so all new ones, need no look-up. */
  #highest = 0;
  /** True while the file may say less than the table. */
  #isDirty = false;

  constructor(fileSystem: FileSystem, root: string, logger: Logger) {
    // A former table may lack a topic, or hold offsets beyond an end that was cut since.
    this.#file = new JsonFile(fileSystem, pathOf(root), logger, "same");
  }

  /**
   * Reads the file; a broken one is set aside with a warning. After an unclean stop its name
   * may not be durable: `flush` has to follow.
   */
  load(lastExitOk: boolean): void {
    this.#replace(this.#file.read(parse) ?? new Map());
    this.#isDirty = !lastExitOk && this.#minPhyOffsets.size > 0;
  }

  topics(): string[] {
    return [...this.#minPhyOffsets.keys()];
  }

  /** 0 for a topic that was not deleted. */
  minPhyOffset(topic: string): number {
    return this.#minPhyOffsets.get(topic) ?? 0;
  }

  /** True for a record that was stored before its topic was deleted. */
  includes(topic: string, phyOffset: number): boolean {
    return phyOffset < this.#highest && phyOffset < this.minPhyOffset(topic);
  }

  /**
   * What lies below `endOffset`, the end of the log, is deleted: at once, and for good when
   * resolved. `startOffset`: where the log begins. Throws `FileError`.
   */
  add(
    topics: readonly string[],
    startOffset: number,
    endOffset: number,
  ): Promise<void> {
    const changed = new Map(this.#minPhyOffsets);
    for (const topic of topics) changed.set(topic, endOffset);
    for (const [topic, offset] of changed) {
      if (offset <= startOffset) changed.delete(topic);
    }
    this.#replace(changed);
    this.#isDirty = true;
    return this.flush();
  }

  /** Resolves once the table survives power loss. Throws `FileError`. */
  async flush(): Promise<void> {
    if (!this.#isDirty) return;
    const written = this.#minPhyOffsets;
    await this.#file.write(JSON.stringify({
      minPhyOffsets: Object.fromEntries(written),
    }));
    if (written === this.#minPhyOffsets) this.#isDirty = false;
  }

  /** The log ends at `endOffset`: what is appended there is nobody's past. Durable as `add`. */
  async limitTo(endOffset: number): Promise<void> {
    if (this.#highest <= endOffset) return;
    const changed: MinPhyOffsets = new Map();
    for (const [topic, offset] of this.#minPhyOffsets) {
      if (endOffset > 0) changed.set(topic, Math.min(offset, endOffset));
    }
    this.#replace(changed);
    this.#isDirty = true;
    await this.flush();
  }

  #replace(minPhyOffsets: MinPhyOffsets): void {
    this.#minPhyOffsets = minPhyOffsets;
    this.#highest = 0;
    for (const offset of minPhyOffsets.values()) {
      if (offset > this.#highest) this.#highest = offset;
    }
  }
}

/** What the file of a store says; empty when there is none that can be read. Never writes. */
export function readDeletedTopics(
  fileSystem: FileSystem,
  root: string,
): ReadonlyMap<string, number> {
  if (fileSystem.stat(pathOf(root)) === undefined) return new Map();
  for (const path of [pathOf(root), `${pathOf(root)}.bak`]) {
    const stat = fileSystem.stat(path);
    if (stat === undefined || stat.isDirectory) continue;
    const bytes = new Uint8Array(stat.size);
    const handle = fileSystem.open(path, "read");
    try {
      handle.readAt(0, bytes);
    } finally {
      handle.close();
    }
    try {
      return parse(new TextDecoder().decode(bytes));
    } catch {
      // The backup may be whole.
    }
  }
  return new Map();
}

function parse(text: string): MinPhyOffsets {
  const content: unknown = JSON.parse(text);
  const table = (content as { minPhyOffsets?: unknown }).minPhyOffsets;
  if (typeof table !== "object" || table === null) {
    throw new SyntaxError("minPhyOffsets is missing");
  }
  const found: MinPhyOffsets = new Map();
  for (const [topic, offset] of Object.entries(table)) {
    if (!Number.isSafeInteger(offset) || offset < 0) {
      throw new SyntaxError(`minPhyOffsets.${topic} is no offset`);
    }
    found.set(topic, offset);
  }
  return found;
}
