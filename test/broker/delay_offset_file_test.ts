import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { ManagerRig, OPTIONS } from "./manager_rig.ts";

test("DelayOffsetFile answers what it found, and never writes", () => {
  const rig = new ManagerRig(OPTIONS, {
    delayOffsets: '{\n\t"offsetTable":{1:17,12:3\n\t}\n}',
  });
  const file = rig.delayOffsetFile;
  assertEquals([...file.offsets()], [[1, 17], [12, 3]]);
  const answer = JSON.parse(file.encode());
  assertEquals(answer.offsetTable, { "1": 17, "12": 3 });
  assertEquals(typeof answer.dataVersion.counter, "number");
  assertEquals(rig.files.delayOffsets.writes, []);
});

test("DelayOffsetFile is empty for content of no use", () => {
  for (const text of ["{}", '{"offsetTable":{"x":1}}', '{"offsetTable":[]}']) {
    const rig = new ManagerRig(OPTIONS, { delayOffsets: text });
    assertEquals([...rig.delayOffsetFile.offsets()], []);
  }
});
