/** Folders that are made on demand, with what has to be synced afterwards. */
import { FileError, type FileSystem } from "../io/file_system.ts";

/** The folder that holds `path`. */
export function parentDirectory(path: string): string {
  const slash = path.lastIndexOf("/");
  if (slash < 0) return ".";
  return slash === 0 ? "/" : path.slice(0, slash);
}

/** Makes `path` and what is missing above it; returns the folders that got a new entry. */
export function createDirectories(
  fileSystem: FileSystem,
  path: string,
): string[] {
  const missing: string[] = [];
  for (let at = path; fileSystem.stat(at) === undefined;) {
    missing.push(at);
    const parent = parentDirectory(at);
    if (parent === at) break;
    at = parent;
  }
  return missing.reverse().map((it) => {
    fileSystem.createDirectory(it);
    return parentDirectory(it);
  });
}

/** `path` and up to `levels` folders above it. */
export function withParents(path: string, levels: number): string[] {
  const found = [path];
  while (found.length <= levels) {
    const parent = parentDirectory(found.at(-1)!);
    if (parent === found.at(-1)) break;
    found.push(parent);
  }
  return found;
}

/**
 * Makes the entries of `directories` durable and takes them out of the set; what is added or
 * fails meanwhile stays in it. A folder that is gone, or that this user may pass through but
 * not open, is left out: it holds nothing of ours that could be lost.
 */
export async function syncDirectories(
  fileSystem: FileSystem,
  directories: Set<string>,
): Promise<void> {
  for (const it of [...directories]) {
    directories.delete(it);
    if (fileSystem.stat(it) === undefined) continue;
    try {
      await fileSystem.syncDirectory(it);
    } catch (error) {
      if (error instanceof FileError && error.kind === "denied") continue;
      directories.add(it);
      throw error;
    }
  }
}
