import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { releaseWhenIdle } from "../../src/cli/idle_memory.ts";
import { openRuntime } from "#runtime";

test("releaseWhenIdle() releases at once and after each busy time", () => {
  let cpuSeconds = 1;
  const released: string[] = [];
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
    releaseIdleMemory: (what) => released.push(what),
  });
  const after = (usedSeconds: number): readonly string[] => {
    cpuSeconds += usedSeconds;
    released.length = 0;
    tick();
    return released;
  };
  assertEquals(released, ["code"]);
  assertEquals(after(0.1), ["all"]); // The start ends here.
  assertEquals(after(0.1), ["code"]); // What the release itself ran through.
  assertEquals(after(5), []);
  assertEquals(after(0.3), []); // A steady load: no time for a pause.
  assertEquals(after(0), ["all"]);
  assertEquals(after(0.3), []);
  assertEquals(after(0), ["code"]); // Not busy meanwhile.
  stop();
  assertEquals(isCancelled, true);
});
