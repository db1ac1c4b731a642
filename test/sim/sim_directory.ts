/** SimDirectory: the names on a simulated disk, as seen and as kept. */
import { SimFile } from "./sim_file.ts";
import type { SimRandom } from "./sim_random.ts";

/** What a name stands for. */
export type SimNode = SimFile | "directory";

type Names = Map<string, SimNode>;

interface NameChange {
  /** Folders whose sync makes the change durable. */
  readonly directories: readonly string[];
  apply(names: Names): void;
}

/** `/a/b` whatever the spelling. */
export function normalPath(path: string): string {
  const names = path.split("/").filter((it) => it !== "" && it !== ".");
  return `/${names.join("/")}`;
}

/** The folder that holds `path`, which is normal. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/**
 * Invariants
 * - `#current` is `#durable` with every change in `#changes` applied in order.
 * - Changes of one folder reach the disk in order; folders among each other not.
 */
export class SimDirectory {
  #current: Names = new Map([["/", "directory"]]);
  #durable: Names = new Map([["/", "directory"]]);
  #changes: NameChange[] = [];

  get(path: string): SimNode | undefined {
    return this.#current.get(path);
  }

  /** Names in a folder, sorted. */
  children(directory: string): { name: string; node: SimNode }[] {
    const prefix = directory === "/" ? "/" : `${directory}/`;
    const found: { name: string; node: SimNode }[] = [];
    for (const [path, node] of this.#current) {
      const name = path.slice(prefix.length);
      if (path.startsWith(prefix) && name !== "" && !name.includes("/")) {
        found.push({ name, node });
      }
    }
    return found.sort((a, b) => a.name < b.name ? -1 : 1);
  }

  files(): SimFile[] {
    return [...this.#current.values()].filter((it) => it instanceof SimFile);
  }

  add(path: string, node: SimNode): void {
    this.#change([parentOf(path)], (names) => void names.set(path, node));
  }

  remove(path: string): void {
    this.#change([parentOf(path)], (names) => void names.delete(path));
  }

  rename(from: string, to: string): void {
    this.#change([parentOf(from), parentOf(to)], (names) => {
      names.delete(to);
      for (const [path, node] of [...names]) {
        if (path !== from && !path.startsWith(`${from}/`)) continue;
        names.delete(path);
        names.set(to + path.slice(from.length), node);
      }
    });
  }

  /**
   * A mark for `commit`: the changes made so far, with those of folders that a
   * rename ties to this one.
   */
  changesOf(directory: string): ReadonlySet<unknown> {
    const tied = new Set([directory]);
    for (let size = 0; size < tied.size;) {
      size = tied.size;
      for (const { directories } of this.#changes) {
        if (!directories.some((it) => tied.has(it))) continue;
        for (const it of directories) tied.add(it);
      }
    }
    return new Set(
      this.#changes.filter((it) => tied.has(it.directories[0]!)),
    );
  }

  /** All changes so far. */
  get changes(): ReadonlySet<unknown> {
    return new Set(this.#changes);
  }

  commit(changes: ReadonlySet<unknown>): void {
    this.#changes = this.#changes.filter((it) => {
      if (changes.has(it)) it.apply(this.#durable);
      return !changes.has(it);
    });
  }

  /** Power loss: of each folder's unsynced changes only the first few survive. */
  crash(random: SimRandom): void {
    const ended = new Set<string>();
    for (const { directories, apply } of this.#changes) {
      const isKept = !directories.some((it) => ended.has(it)) &&
        random.oneIn(2);
      if (isKept) apply(this.#durable);
      else for (const it of directories) ended.add(it);
    }
    this.#changes = [];
    for (const path of this.#durable.keys()) {
      if (!hasParents(path, this.#durable)) this.#durable.delete(path);
    }
    this.#current = new Map(this.#durable);
  }

  #change(directories: readonly string[], apply: (names: Names) => void): void {
    this.#changes.push({ directories, apply });
    apply(this.#current);
  }
}

function hasParents(path: string, names: Names): boolean {
  for (let it = path; it !== "/";) {
    it = parentOf(it);
    if (names.get(it) !== "directory") return false;
  }
  return true;
}
