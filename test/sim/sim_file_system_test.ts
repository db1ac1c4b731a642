import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { FileError } from "../../src/io/file_system.ts";
import { SimClock } from "./sim_clock.ts";
import { SimFileSystem } from "./sim_file_system.ts";
import { SimRandom } from "./sim_random.ts";

const CRASHES = 300;
const A = "/store/a";

const filled = (size: number, value: number) =>
  new Uint8Array(size).fill(value);

/** A disk with a durable, synced file of 4 KiB of ones. */
async function diskWithFile(seed: number) {
  const disk = new SimFileSystem({
    random: new SimRandom(seed),
    directories: ["/store"],
  });
  const file = disk.open(A, "create");
  file.writeAt(0, filled(4096, 1));
  await file.sync();
  await disk.syncDirectory("/store");
  return { disk, file };
}

/** What `observe` says of each of many crashes. */
async function outcomes(
  crash: (seed: number) => Promise<string>,
): Promise<Set<string>> {
  const seen = new Set<string>();
  for (let seed = 1; seed <= CRASHES; seed++) seen.add(await crash(seed));
  return seen;
}

describe("SimFileSystem.crash()", () => {
  it("keeps what was synced", async () => {
    for (let seed = 1; seed <= CRASHES; seed++) {
      const { disk } = await diskWithFile(seed);
      disk.crash();
      assertEquals(disk.readFile(A), filled(4096, 1));
    }
  });

  it("loses, keeps, cuts and tears what was not", async () => {
    const seen = await outcomes(async (seed) => {
      const { disk, file } = await diskWithFile(seed);
      file.writeAt(0, filled(1024, 2));
      file.writeAt(1024, filled(1024, 3));
      disk.crash();
      const content = disk.readFile(A);
      const count = (value: number) =>
        content.filter((it) => it === value).length;
      assertEquals(content.length, 4096);
      const [first, second] = [count(2), count(3)];
      const isTorn = first % 512 !== 0 || second % 512 !== 0;
      if (isTorn) return "torn";
      if (first < 1024 && second > 0) return "out of order";
      return `${first > 0} ${second > 0}`;
    });
    assertEquals([...seen].sort(), [
      "false false",
      "out of order",
      "torn",
      "true false",
      "true true",
    ]);
  });

  it("may lose a length that was not synced", async () => {
    const seen = await outcomes(async (seed) => {
      const { disk, file } = await diskWithFile(seed);
      file.truncate(10_000);
      disk.crash();
      return String(disk.stat(A)?.size);
    });
    assertEquals([...seen].sort(), ["10000", "4096"]);
  });

  it("may lose a new name until its folder is synced", async () => {
    const story = async (seed: number, isSynced: boolean) => {
      const { disk } = await diskWithFile(seed);
      const file = disk.open("/store/b", "create");
      file.writeAt(0, filled(10, 5));
      await file.sync();
      if (isSynced) await disk.syncDirectory("/store");
      disk.crash();
      return String(disk.stat("/store/b")?.size);
    };
    const unsynced = await outcomes((seed) => story(seed, false));
    assertEquals([...unsynced].sort(), ["10", "undefined"]);
    assertEquals([...await outcomes((seed) => story(seed, true))], ["10"]);
  });

  it("may undo a rename until its folder is synced", async () => {
    const seen = await outcomes(async (seed) => {
      const { disk } = await diskWithFile(seed);
      disk.plant("/store/b", filled(1, 9));
      disk.rename("/store/b", A);
      disk.crash();
      return disk.list("/store")
        .map((it) => `${it.name}${disk.stat(`/store/${it.name}`)?.size}`)
        .join();
    });
    assertEquals([...seen].sort(), ["a1", "a4096,b1"]);
  });

  it("may bring back a removed file, and loses folders with their files", async () => {
    const seen = await outcomes(async (seed) => {
      const { disk } = await diskWithFile(seed);
      disk.remove(A);
      disk.createDirectory("/store/x");
      disk.open("/store/x/c", "create").close();
      await disk.syncDirectory("/store/x");
      disk.crash();
      return ["a", "x", "x/c"].filter((it) => disk.stat(`/store/${it}`)).join();
    });
    assertEquals([...seen].sort(), ["", "a", "x,x/c"]);
  });

  it("ends handles, locks and everything that runs", async () => {
    const clock = new SimClock();
    const disk = new SimFileSystem({ clock, directories: ["/store"] });
    disk.faults.syncDelayMs = () => 5;
    const lock = disk.lock("/store/lock");
    const file = disk.open(A, "create");
    let isSynced = false;
    void file.sync().then(() => isSynced = true);
    await clock.run(1);
    disk.crash();
    await clock.run(10);
    assertEquals(isSynced, false);
    assertThrows(() => file.writeAt(0, filled(1, 1)), FileError, "power");
    file.close();
    lock.release();
    assertEquals(disk.openFiles, 0);
    disk.lock("/store/lock").release();
  });

  it("kill() ends the process and keeps the data", async () => {
    const { disk, file } = await diskWithFile(1);
    file.writeAt(0, filled(10, 2));
    disk.lock("/store/lock");
    disk.kill();
    assertEquals(disk.readFile(A).subarray(0, 10), filled(10, 2));
    disk.lock("/store/lock").release();
  });
});

describe("SimFaults", () => {
  it("a dropped sync says that it is done, and is not", async () => {
    const seen = await outcomes(async (seed) => {
      const { disk, file } = await diskWithFile(seed);
      const count = disk.syncCalls.length;
      disk.faults.dropSync = ({ number }) => number === count + 1;
      file.writeAt(0, filled(512, 2));
      await file.sync();
      disk.crash();
      return String(disk.readFile(A)[0]);
    });
    assertEquals([...seen].sort(), ["1", "2"]);
  });

  it("names every sync call", async () => {
    const { disk, file } = await diskWithFile(1);
    await file.sync();
    assertEquals(disk.syncCalls, [
      { number: 1, kind: "file", path: A },
      { number: 2, kind: "directory", path: "/store" },
      { number: 3, kind: "file", path: A },
    ]);
  });

  it("a failed sync loses its data although the next one succeeds", async () => {
    const { disk, file } = await diskWithFile(1);
    disk.faults.failSync = ({ number }) => number === 3;
    file.writeAt(0, filled(512, 2));
    const error = await assertRejects(() => file.sync(), FileError);
    assertEquals(error.kind, "io");
    await file.sync();
    assertEquals(disk.readFile(A)[0], 2);
    disk.crash();
    assertEquals(disk.readFile(A)[0], 1);
  });

  it("a full disk takes what fits and recovers by deletion", async () => {
    const { disk } = await diskWithFile(1);
    disk.faults.capacityBytes = 3 * 4096;
    const file = disk.open("/store/b", "create");
    file.truncate(1_000_000); // A hole costs nothing.
    const error = assertThrows(
      () => file.writeAt(100, filled(3 * 4096, 2)),
      FileError,
    );
    assertEquals(error.kind, "no-space");
    assertEquals(disk.diskSpace("/store").freeBytes, 0);
    file.writeAt(0, filled(4096, 3)); // In place.
    disk.remove(A);
    file.writeAt(2 * 4096, filled(4096, 3));
    file.close();
  });

  it("a read-only disk reads", async () => {
    const { disk, file } = await diskWithFile(1);
    disk.faults.isReadOnly = true;
    const writes = [
      () => file.writeAt(0, filled(1, 1)),
      () => file.truncate(1),
      () => disk.open("/store/b", "create"),
      () => disk.open(A, "write"),
      () => disk.rename(A, "/store/b"),
      () => disk.remove(A),
      () => disk.createDirectory("/store/d"),
    ];
    for (const write of writes) {
      assertEquals(assertThrows(write, FileError).kind, "read-only");
    }
    assertEquals(disk.readFile(A), filled(4096, 1));
  });

  it("failing and slow devices, and a lack of descriptors", async () => {
    const clock = new SimClock();
    const disk = new SimFileSystem({ clock, directories: ["/store"] });
    disk.plant(A, filled(100, 1));
    disk.faults.openFilesMax = 1;
    const file = disk.open(A, "write");
    const many = assertThrows(() => disk.open(A, "read"), FileError);
    assertEquals(many.kind, "too-many-open");
    disk.faults.readDelayMs = () => 50;
    await clock.complete(file.readAtAsync(0, new Uint8Array(10)));
    assertEquals(clock.monotonicMs(), 50);
    disk.faults.failRead = (path) => path === A;
    disk.faults.failWrite = (path) => path === A;
    const reads = () => file.readAt(0, new Uint8Array(1));
    assertEquals(assertThrows(reads, FileError).kind, "io");
    const writes = () => file.writeAt(0, filled(1, 1));
    assertEquals(assertThrows(writes, FileError).kind, "io");
    assert(disk.openFiles === 1);
    file.close();
  });
});
