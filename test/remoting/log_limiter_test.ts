import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { LogLimiter } from "../../src/remoting/log_limiter.ts";
import { ListLogger } from "./remoting_rig.ts";
import { VirtualClock } from "./virtual_clock.ts";

test("LogLimiter writes one line of a kind in 10 s and counts the others", () => {
  const clock = new VirtualClock();
  const logger = new ListLogger();
  const limiter = new LogLimiter(logger, clock);
  for (let line = 0; line < 5; line++) limiter.warn("a", "first");
  limiter.warn("b", "other kind", { peer: "p" });
  clock.advance(10_000);
  limiter.warn("a", "second");
  assertEquals(logger.lines, [
    { message: "first", fields: {} },
    { message: "other kind", fields: { peer: "p" } },
    { message: "second", fields: { suppressed: 4 } },
  ]);
});

test("LogLimiter keeps no more than a bounded number of kinds", () => {
  const logger = new ListLogger();
  const limiter = new LogLimiter(logger, new VirtualClock());
  for (let kind = 0; kind < 10_000; kind++) limiter.warn(`kind ${kind}`, "x");
  assertEquals(logger.lines.length, 257);
});
