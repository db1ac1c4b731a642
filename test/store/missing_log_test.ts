import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { FileError } from "../../src/io/file_system.ts";
import { StoreStartError } from "../../src/store/store_start_error.ts";
import { setStoreAside } from "../../src/store/store_reseed.ts";
import { verifyStore } from "../../src/store/store_verify.ts";
import { put, ROOT, SMALL, StoreSite } from "./message_store_fixture.ts";

const AWAY = "/data/unmounted";
const ELSEWHERE = { storePathCommitLog: "/data/disk/commitlog" };

/** A store with messages, stopped; `changes` of its options. */
async function filled(
  changes: Partial<typeof SMALL> = {},
  kind: "clean" | "kill" = "clean",
): Promise<StoreSite> {
  const site = new StoreSite();
  const store = await site.open(changes);
  for (let sent = 0; sent < 30; sent++) put(store);
  await site.pass(store, 61_000);
  if (kind === "clean") await store.shutdown();
  else site.disk.kill();
  return site;
}

/** Every file with its bytes, but the lock. */
function filesOf(site: StoreSite, directory = ROOT): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, isDirectory } of site.disk.list(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) { for (const it of filesOf(site, path)) found.set(...it); }
    else if (name !== "lock") found.set(path, textAt(site, path));
  }
  return found;
}

function textAt({ disk }: StoreSite, path: string): string {
  const bytes = new Uint8Array(disk.stat(path)!.size);
  const handle = disk.open(path, "read");
  handle.readAt(0, bytes);
  handle.close();
  return bytes.join();
}

for (const kind of ["clean", "kill"] as const) {
  for (const changes of [{}, ELSEWHERE]) {
    const log = changes === ELSEWHERE
      ? ELSEWHERE.storePathCommitLog
      : `${ROOT}/commitlog`;
    test(`A log that is gone from ${log} after a ${kind} stop is no empty one`, async () => {
      const site = await filled(changes, kind);
      site.disk.rename(log, AWAY);
      const before = filesOf(site);
      const error = await assertRejects(
        () => site.open(changes),
        StoreStartError,
        `${log} (`,
      );
      const isRoot = changes !== ELSEWHERE;
      assertEquals(
        [error.key, error.value],
        isRoot ? ["storePathRootDir", ROOT] : ["storePathCommitLog", log],
      );
      assert(error.message.includes(`${ROOT}/checkpoint says`), error.message);
      assert(error.message.endsWith(error.cure), error.message);
      assertEquals(filesOf(site), before);
      // An empty folder, as a mount point is one, and a file of no bytes are the same.
      site.disk.createDirectory(log);
      await assertRejects(() => site.open(changes), StoreStartError, "no file");
      site.disk.plant(`${log}/00000000000000000000`, new Uint8Array(0));
      await assertRejects(() => site.open(changes), StoreStartError, "no file");
      site.disk.remove(`${log}/00000000000000000000`);
      site.disk.remove(log);
      site.disk.rename(AWAY, log);
      const store = await site.open(changes);
      assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), 30);
      assertEquals(store.options.mappedFileSizeCommitLog, 4096);
      await store.shutdown();
      const options = { commitLogDirectory: log };
      assert((await verifyStore(site.disk, ROOT, options)).isSound);
    });
  }
}

test("Moving away what the refusal names makes an empty store", async () => {
  const site = await filled();
  site.disk.rename(`${ROOT}/commitlog`, AWAY);
  for (const name of ["consumequeue", "checkpoint"]) {
    site.disk.rename(`${ROOT}/${name}`, `/data/${name}`);
  }
  const store = await site.open();
  assertEquals(put(store).queueOffset, 0);
  await store.shutdown();
});

test("Queues before the first sync of the log, and Apache's without a checkpoint, start", async () => {
  const site = new StoreSite();
  const store = await site.open();
  put(store);
  site.disk.kill();
  site.disk.rename(`${ROOT}/commitlog`, AWAY);
  assertEquals((await site.open()).topics(), []);
  assert(store.lastExitOk);
  const other = await filled();
  other.disk.rename(`${ROOT}/commitlog`, AWAY);
  other.disk.remove(`${ROOT}/checkpoint`);
  await (await other.open()).shutdown();
});

/** A slave's store whose move aside ended behind the log. */
async function halfMoved(): Promise<StoreSite> {
  const site = await filled();
  const { disk, clock, logger } = site;
  const rename = disk.rename.bind(disk);
  disk.rename = (from, to) => {
    if (from !== `${ROOT}/consumequeue`) return rename(from, to);
    throw new FileError("Cannot rename", "other", from, { errno: "EIO" });
  };
  const ports = { fileSystem: disk, clock, logger };
  const cause = { reason: "a test moves it", maxOffset: 9 };
  await assertRejects(() => setStoreAside(ports, SMALL, cause), FileError);
  disk.rename = rename;
  return site;
}

test("A move aside that was cut short behind the log starts empty", async () => {
  const site = await halfMoved();
  assert(site.disk.stat(`${ROOT}/checkpoint`) !== undefined);
  const store = await site.open({ brokerRole: "SLAVE", brokerId: 1 });
  assertEquals([store.maxPhyOffset, store.topics()], [0, []]);
  await store.shutdown();
});

test("A store that has its messages from after a re-seed is not taken for one of them", async () => {
  const site = await filled();
  const { disk: fileSystem, clock, logger } = site;
  await setStoreAside({ fileSystem, clock, logger }, SMALL, {
    reason: "a test moves it",
    maxOffset: 9,
  });
  const store = await site.open();
  await site.pass(store, 10_000);
  put(store);
  await site.pass(store, 10_000);
  await store.shutdown();
  fileSystem.rename(`${ROOT}/commitlog`, AWAY);
  await assertRejects(() => site.open(), StoreStartError, "holds no file");
});
