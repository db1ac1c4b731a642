import { readFileSync, writeFileSync } from "node:fs";
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

test("HARoleFile takes its backup for a broken file, and says that it is degraded", () =>
  withTempDirectory(async (folder) => {
    const file = open(folder);
    await file.write(RECORD);
    await file.write({ ...RECORD, epoch: 4 });
    writeFileSync(`${folder}/config/haRole.json`, '{"role":"SLA');
    const again = open(folder);
    assertEquals(again.read(), RECORD);
    assert(again.file.isDegraded);
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
