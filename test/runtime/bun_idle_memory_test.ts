import { assertEquals } from "@std/assert";
import { test } from "node:test";

const SMAPS = `00200000-02d00000 r--p 00000000 fe:00 1234 /opt/pocketmq
Rss:                7044 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
02d00000-06d00000 r-xp 02b00000 fe:00 1234                       /opt/pocketmq
Size:              65536 kB
Rss:               35336 kB
Private_Clean:     35336 kB
Private_Dirty:         0 kB
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

test("cleanCodeMappings() takes clean code of the executable only", async () => {
  if (!("Bun" in globalThis)) return; // The module needs bun:ffi.
  const { cleanCodeMappings } = await import(
    "../../src/runtime/bun_idle_memory.ts"
  );
  assertEquals(cleanCodeMappings(SMAPS, "/opt/pocketmq"), [
    { start: 0x02d00000n, size: 0x04000000n },
  ]);
});

test("releaseIdleMemory() leaves a process that works", async () => {
  if (!("Bun" in globalThis)) return;
  const { releaseIdleMemory } = await import(
    "../../src/runtime/bun_idle_memory.ts"
  );
  releaseIdleMemory();
  assertEquals(JSON.parse(JSON.stringify({ a: [1, 2, 3] })), { a: [1, 2, 3] });
});
