import { openRuntime } from "#runtime";
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { cleanCodeMappings } from "../../src/runtime/code_mappings.ts";

const SMAPS = `00200000-02d00000 r--p 00000000 fe:00 1234 /opt/pocketmq
Rss:                7044 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
02d00000-06d00000 r-xp 02b00000 fe:00 1234                       /opt/pocketmq
Size:              65536 kB
Rss:               35336 kB
Private_Clean:         0 kB
Private_Dirty:     35336 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
06d00000-06e00000 rw-p 06b00000 fe:00 1234 /opt/pocketmq
Private_Dirty:      1024 kB
Anonymous:          1024 kB
7f0000000000-7f0000100000 r-xp 00000000 fe:00 99 /lib/libc.so.6
Private_Dirty:         0 kB
Anonymous:             0 kB
7f0000200000-7f0000600000 r-xp 00000000 fe:00 1234 /opt/pocketmq
Private_Dirty:         4 kB
Anonymous:             4 kB
7f0000700000-7f0000701000 r-xp 00000000 fe:00 1234 /opt/pocketmq
Private_Dirty:         0 kB
Anonymous:             0 kB
`;

test("cleanCodeMappings() takes code and constants of the executable only", () => {
  assertEquals(cleanCodeMappings(SMAPS, "/opt/pocketmq"), [
    { start: 0x00200000n, size: 0x02b00000n },
    { start: 0x02d00000n, size: 0x04000000n },
  ]);
});

test("Runtime.releaseIdleMemory() leaves a process that works", () => {
  openRuntime().releaseIdleMemory("code");
  openRuntime().releaseIdleMemory("all");
  assertEquals(JSON.parse(JSON.stringify({ a: [1, 2, 3] })), { a: [1, 2, 3] });
});
