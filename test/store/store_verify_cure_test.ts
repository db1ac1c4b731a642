import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { StoreFinding } from "../../src/store/store_finding.ts";
import { verifyStore } from "../../src/store/store_verify.ts";
import { parentDirectory } from "../../src/store/directories.ts";
import { bytesOf, get, put, ROOT, StoreSite } from "./message_store_fixture.ts";

async function stopped(count = 30): Promise<StoreSite> {
  const site = new StoreSite();
  const store = await site.open();
  for (let n = 0; n < count; n++) {
    put(store, {
      body: bytesOf("x".padEnd(800)),
      propertiesText: `UNIQ_KEY\u0001u${n}\u0002TAGS\u0001TagA\u0002`,
    });
  }
  await site.pass(store, 61_000);
  await store.shutdown();
  return site;
}

function shorten(site: StoreSite, path: string, size: number): void {
  const handle = site.disk.open(path, "write");
  handle.truncate(size);
  handle.close();
}

function firstIn(site: StoreSite, folder: string): string {
  return `${folder}/${site.disk.list(folder)[0]!.name}`;
}

function onlyOf(findings: readonly StoreFinding[], path: string) {
  const found = findings.filter((it) => it.path === path);
  assertEquals(found.length, 1, JSON.stringify(findings));
  return found[0]!;
}

const READERS = new Map([["topics.json", () => []]]);

test("An empty last log file that entries point into is an error, one that was never filled is none", async () => {
  const site = await stopped();
  const log = `${ROOT}/commitlog`;
  const last = `${log}/${site.disk.list(log).at(-1)!.name}`;
  const end = Number(last.slice(-20)) + 4096;
  const unused = `${log}/${String(end).padStart(20, "0")}`;
  site.disk.plant(unused, new Uint8Array(0));
  const before = await verifyStore(site.disk, ROOT);
  assert(before.isSound, JSON.stringify(before.findings));
  assertEquals(onlyOf(before.findings, unused).severity, "warning");
  site.disk.remove(unused);
  shorten(site, last, 0);
  const { findings, isSound } = await verifyStore(site.disk, ROOT);
  assert(!isSound);
  const finding = onlyOf(findings, last);
  assertEquals(finding.severity, "error");
  assert(finding.followUps!.length > 0);
});

test("A checkpoint that a start ignores is told of", async () => {
  const site = await stopped();
  const path = `${ROOT}/checkpoint`;
  for (const bytes of [new Uint8Array(10), new Uint8Array(4096).fill(0x7f)]) {
    site.disk.remove(path);
    site.disk.plant(path, bytes);
    const { findings } = await verifyStore(site.disk, ROOT);
    const { kind, severity } = onlyOf(findings, path);
    assertEquals([kind, severity], ["checkpoint", "warning"]);
  }
});

test("Queues without any table of topics are told of", async () => {
  const site = await stopped();
  const path = `${ROOT}/config/topics.json`;
  const look = () => verifyStore(site.disk, ROOT, { configReaders: READERS });
  const finding = onlyOf((await look()).findings, path);
  assertEquals([finding.kind, finding.severity], ["config-file", "warning"]);
  if (site.disk.stat(`${ROOT}/config`) === undefined) {
    site.disk.createDirectory(`${ROOT}/config`);
  }
  site.disk.plant(path, bytesOf("{}"));
  assertEquals((await look()).findings, []);
  const empty = new StoreSite();
  await (await empty.open()).shutdown();
  const { findings } = await verifyStore(empty.disk, ROOT, {
    configReaders: READERS,
  });
  assertEquals(findings, []);
});

for (const name of ["consumequeue/TopicTest/3", "index"]) {
  test(`A folder ${name} with a cut file is built again once it is moved away, as verify says`, async () => {
    const site = await stopped();
    const path = firstIn(site, `${ROOT}/${name}`);
    shorten(site, path, 250);
    const { findings } = await verifyStore(site.disk, ROOT);
    const told = findings.filter((it) => it.kind === "wrong-size");
    assert(onlyOf(told, path).message.includes("the next start builds"));
    const folder = parentDirectory(path);
    site.disk.rename(folder, "/data/away");
    const store = await site.open();
    assertEquals(get(store, 0).maxOffset, 30);
    const found = await store.queryMessage("TopicTest", "u7", 9, 0, 1e15);
    assertEquals(found.records.length, 1);
    await store.shutdown();
    assertEquals((await verifyStore(site.disk, ROOT)).findings, []);
  });
}
