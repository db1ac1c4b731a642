/** Stores that the tools look at, and what is done to their files behind the tools' back. */
import { assertEquals } from "@std/assert";
import type {
  StoreFinding,
  StoreFindingKind,
} from "../../src/store/store_finding.ts";
import { verifyStore } from "../../src/store/store_verify.ts";
import type { SimFileSystem } from "../sim/sim_file_system.ts";
import { MemoryFileSystem } from "./memory_file_system.ts";
import { bytesOf, put, ROOT, StoreSite } from "./message_store_fixture.ts";

export const RECORD_COUNT = 60;

/** A store of 60 keyed messages in two topics, several files of each kind. */
export async function makeStore(
  isStopped = true,
  sizes: { maxHashSlotNum?: number; maxIndexNum?: number } = {},
  recordCount = RECORD_COUNT,
): Promise<MemoryFileSystem> {
  const site = new StoreSite();
  const store = await site.open(sizes);
  for (let n = 0; n < recordCount; n++) {
    put(store, {
      topic: n % 3 === 0 ? "U" : "T",
      queueId: n % 2,
      body: bytesOf(`message ${n} `.padEnd(100, "x")),
      propertiesText: `UNIQ_KEY\u0001u${n}\u0002KEYS\u0001k${
        n % 5
      }\u0002TAGS\u0001TagA\u0002`,
    });
    await site.clock.run(10);
    store.tick(site.clock.nowMs());
  }
  await site.pass(store, 500);
  if (isStopped) await site.clock.complete(store.shutdown());
  return copyOf(site.disk);
}

/** Tools do not write: the copy counts and refuses. */
function copyOf(disk: SimFileSystem): MemoryFileSystem {
  const copy = new MemoryFileSystem();
  const copyFolder = (folder: string) => {
    copy.createDirectory(folder);
    for (const { name, isDirectory } of disk.list(folder)) {
      const path = `${folder}/${name}`;
      if (isDirectory) copyFolder(path);
      else copy.put(path, disk.readFile(path));
    }
  };
  copyFolder(ROOT);
  copy.fail = (operation, path) =>
    ["writeAt", "truncate", "rename", "remove", "createDirectory"]
        .includes(operation)
      ? new Error(`${operation} of ${path}: tools must not write`)
      : undefined;
  return copy;
}

/** Changes bytes behind the tools' back. */
export function change(
  fileSystem: MemoryFileSystem,
  path: string,
  edit: (bytes: Uint8Array) => Uint8Array | void,
): void {
  const bytes = fileSystem.bytes(path);
  place(fileSystem, path, edit(bytes) ?? bytes);
}

/** Puts a file there behind the tools' back. */
export function place(
  fileSystem: MemoryFileSystem,
  path: string,
  bytes: Uint8Array,
): void {
  const { fail } = fileSystem;
  fileSystem.fail = null;
  fileSystem.put(path, bytes);
  fileSystem.fail = fail;
}

export function fileOf(folder: string, offset: number): string {
  return `${ROOT}/${folder}/${String(offset).padStart(20, "0")}`;
}

export async function findingsOf(
  fileSystem: MemoryFileSystem,
): Promise<readonly StoreFinding[]> {
  const result = await verifyStore(fileSystem, ROOT);
  assertEquals(fileSystem.openCount, 0);
  return result.findings;
}

export function only(
  findings: readonly StoreFinding[],
  kind: StoreFindingKind,
): StoreFinding {
  const found = findings.filter((it) => it.kind === kind);
  assertEquals(found.length, 1, JSON.stringify(findings));
  return found[0]!;
}
