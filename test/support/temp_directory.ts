/** A folder of a test's own, gone when the test is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** `using directory = tempDirectory()` removes it at the end of the block. */
export interface TempDirectory extends Disposable {
  readonly path: string;
  remove(): void;
}

/** Makes an empty folder. */
export function tempDirectory(): TempDirectory {
  const path = mkdtempSync(join(tmpdir(), "pocketmq-test-"));
  const remove = () => rmSync(path, { recursive: true, force: true });
  return { path, remove, [Symbol.dispose]: remove };
}

/** Runs `use` in an empty folder and removes it, whatever happens. */
export async function withTempDirectory<T>(
  use: (path: string) => T | Promise<T>,
): Promise<T> {
  using directory = tempDirectory();
  return await use(directory.path);
}
