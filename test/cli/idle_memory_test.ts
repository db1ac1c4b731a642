import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { releaseWhenIdle } from "../../src/cli/idle_memory.ts";
import { openRuntime } from "#runtime";

test("releaseWhenIdle() releases at once and after each busy time", () => {
  let cpuSeconds = 1;
  let released = 0;
  let tick = () => {};
  let isCancelled = false;
  const { host, clock } = openRuntime();
  const stop = releaseWhenIdle({
    host: Object.assign(Object.create(host), { cpuSeconds: () => cpuSeconds }),
    clock: Object.assign(Object.create(clock), {
      every: (_ms: number, run: () => void) => {
        tick = run;
        return { cancel: () => isCancelled = true };
      },
    }),
    releaseIdleMemory: () => released++,
  });
  assertEquals(released, 1);
  const after = (usedSeconds: number): number => {
    cpuSeconds += usedSeconds;
    tick();
    return released;
  };
  assertEquals(after(0.1), 2); // The start ends here.
  assertEquals(after(0.1), 3); // What the release itself ran through.
  assertEquals(after(0.1), 3); // Still idle: nothing to give back.
  assertEquals(after(5), 3);
  assertEquals(after(0.3), 3); // A steady load: no time for a pause.
  assertEquals(after(0), 4);
  assertEquals(after(5), 4); // Busy again before the second time.
  assertEquals(after(0), 5);
  assertEquals(after(0), 6);
  // Once a minute from then on.
  const releases = Array.from({ length: 11 }, () => after(0));
  assertEquals(releases, [6, 6, 6, 7, 7, 7, 7, 7, 7, 8, 8]);
  stop();
  assertEquals(isCancelled, true);
});
