import { assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { ExecutionTimes } from "../../src/broker/execution_times.ts";
import {
  createRequest,
  createResponse,
} from "../../src/protocol/remoting_command.ts";
import { FakeClock, fakeContext } from "./fakes.ts";

test("ExecutionTimes measures what a processor took, by how it ended", async () => {
  const clock = new FakeClock();
  const times = new ExecutionTimes(clock);
  let code = 0;
  const processor = times.wrap(
    () => {
      clock.advance(200);
      if (code < 0) throw new Error("no disk");
      return createResponse(code);
    },
    ({ extFields }) => extFields["topic"] === "S",
  );
  const ask = (topic: string) =>
    processor(fakeContext(), createRequest(17, { topic }));
  await ask("T");
  await ask("T");
  await ask("S");
  code = 29;
  await ask("T");
  code = -1;
  await assertRejects(async () => await ask("T"), Error, "no disk");
  assertEquals(
    times.times.map((it) => [it.isSuccess, it.isSystem, it.timeMs.counts[2]]),
    [[true, false, 2], [true, true, 1], [false, false, 2]],
  );
});
