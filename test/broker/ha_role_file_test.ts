import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  HARoleFile,
  type HARoleRecord,
  parseHARole,
} from "../../src/broker/ha_role_file.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { runtime } from "./broker_site.ts";
import { FakeLogger } from "./fakes.ts";

const RECORD: HARoleRecord = {
  role: "SYNC_MASTER",
  brokerId: 0,
  epoch: 3,
  promotedAtOffset: 4_096,
};

const open = (folder: string) =>
  new HARoleFile(runtime.fileSystem, folder, new FakeLogger());

test("HARoleFile reads what it wrote, and nothing where nothing is", () =>
  withTempDirectory(async (folder) => {
    assertEquals(open(folder).read(), null);
    const demoted: HARoleRecord = {
      ...RECORD,
      role: "SLAVE",
      brokerId: 2,
      haMasterAddress: "10.0.0.5:10912",
    };
    for (const record of [RECORD, demoted]) {
      await open(folder).write(record);
      assertEquals(open(folder).read(), record);
    }
    const text = readFileSync(`${folder}/config/haRole.json`, "utf8");
    assert(text.startsWith('{\n  "role": "SLAVE"'), text);
  }));

const EARLIER: HARoleRecord = {
  role: "SYNC_MASTER",
  brokerId: 0,
  epoch: 2,
  promotedAtOffset: 9,
};
const DEMOTED: HARoleRecord = {
  role: "SLAVE",
  brokerId: 1,
  epoch: 2,
  promotedAtOffset: 9,
};

/** A broker that was promoted, then demoted. */
async function swapped(folder: string): Promise<string> {
  const file = open(folder);
  await file.write(EARLIER);
  await file.write(DEMOTED);
  return `${folder}/config/haRole.json`;
}

test("a broken haRole.json gives the role in force from its backup, never the one before", () =>
  withTempDirectory(async (folder) => {
    const path = await swapped(folder);
    for (const broken of ['{"role":"SLA', ""]) {
      writeFileSync(path, broken);
      const again = open(folder);
      assertEquals(again.read(), DEMOTED);
      assert(again.file.isDegraded);
    }
  }));

test("a removed haRole.json is the configuration, whatever its backup says", () =>
  withTempDirectory(async (folder) => {
    const path = await swapped(folder);
    rmSync(path);
    const logger = new FakeLogger();
    const again = new HARoleFile(runtime.fileSystem, folder, logger);
    assertEquals(again.read(), null);
    assertEquals(again.file.isDegraded, false);
    assertEquals(existsSync(`${path}.bak`), false);
    assertEquals(logger.lines.length, 1);
    assert(logger.lines[0]!.includes("was removed"), logger.lines[0]);
    assertEquals(open(folder).read(), null);
  }));

test("a backup with a former role, as older versions left it, is never used", () =>
  withTempDirectory(async (folder) => {
    const path = await swapped(folder);
    writeFileSync(`${path}.bak`, JSON.stringify(EARLIER));
    assertEquals(open(folder).read(), DEMOTED);
    writeFileSync(path, "{");
    const again = open(folder);
    assertEquals(again.read(), null);
    assert(again.file.isDegraded);
    assert(existsSync(`${path}.corrupt`));
  }));

test("a role that nobody can read any more is a SLAVE's, from then on, and that is said", () =>
  withTempDirectory(async (folder) => {
    const path = `${folder}/config/haRole.json`;
    const load = (id: number, logger = new FakeLogger()) =>
      new HARoleFile(runtime.fileSystem, folder, logger).load(id);
    assertEquals(await load(0), null);
    await open(folder).write(RECORD);
    assertEquals(await load(0), RECORD);
    for (const [configured, brokerId] of [[0, 1], [3, 3]] as const) {
      rmSync(`${path}.bak`);
      writeFileSync(path, "{");
      const logger = new FakeLogger();
      const slave = await load(configured, logger);
      assertEquals(slave, {
        role: "SLAVE",
        brokerId,
        epoch: 0,
        promotedAtOffset: 0,
      });
      const sentence = logger.lines.at(-1)!;
      for (const part of [path, `brokerId=${brokerId}`, "ha promote"]) {
        assert(sentence.includes(part), sentence);
      }
      assertEquals(await load(0), slave);
    }
  }));

test("a role whose backup cannot be written holds all the same", () =>
  withTempDirectory(async (folder) => {
    const path = `${folder}/config/haRole.json`;
    mkdirSync(`${path}.bak/x`, { recursive: true });
    await open(folder).write(DEMOTED);
    assertEquals(open(folder).read(), DEMOTED);
  }));

test("parseHARole refuses whatever is no role", () => {
  const wrong: [unknown, string][] = [
    [{ ...RECORD, role: "LEADER" }, "role is none of"],
    [{ ...RECORD, brokerId: 1 }, "brokerId"],
    [{ ...RECORD, role: "SLAVE" }, "brokerId"],
    [{ ...RECORD, epoch: -1 }, "epoch"],
    [{ role: "SLAVE", brokerId: 1 }, "epoch"],
    [{ ...RECORD, promotedAtOffset: "x" }, "promotedAtOffset"],
    [[], "no object"],
  ];
  for (const [value, reason] of wrong) {
    assertThrows(() => parseHARole(JSON.stringify(value)), Error, reason);
  }
});
