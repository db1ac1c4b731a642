/** Folders that are made on demand, with what has to be synced afterwards. */
import type { FileSystem } from "../io/file_system.ts";

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
