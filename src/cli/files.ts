/** Whole small files through the FileSystem port: configuration, message bodies. */
import type { FileSystem } from "../io/file_system.ts";

/** Bytes of the largest body that a broker may take at all. */
export const BODY_SIZE_MAX = 64 * 1024 * 1024;

/** Bytes of a file. Throws FileError. */
export function readFile(fileSystem: FileSystem, path: string): Uint8Array {
  const file = fileSystem.open(path, "read");
  try {
    const bytes = new Uint8Array(file.size());
    file.readAt(0, bytes);
    return bytes;
  } finally {
    file.close();
  }
}

/** Text of a file in UTF-8. Throws FileError. */
export function readTextFile(fileSystem: FileSystem, path: string): string {
  return new TextDecoder().decode(readFile(fileSystem, path));
}

/**
 * Replaces a file as a whole: temporary file, sync, rename, sync of the folder. With
 * `create-private` its owner alone can read it from then on.
 */
export async function replaceTextFile(
  fileSystem: FileSystem,
  path: string,
  text: string,
  mode: "create" | "create-private" = "create",
): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  const temporary = `${path}.tmp`;
  const file = fileSystem.open(temporary, mode);
  try {
    file.truncate(bytes.length);
    file.writeAt(0, bytes);
    await file.sync();
  } finally {
    file.close();
  }
  fileSystem.rename(temporary, path);
  await fileSystem.syncDirectory(folderOf(path));
}

/** `path` as it is named from everywhere, when `folder` is the one it is relative to. */
export function absolutePath(folder: string, path: string): string {
  const full = path.startsWith("/") ? path : `${folder}/${path}`;
  const parts = full.split("/").filter((it) => it !== "" && it !== ".");
  return `/${parts.join("/")}`;
}

function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "." : slash === 0 ? "/" : path.slice(0, slash);
}
