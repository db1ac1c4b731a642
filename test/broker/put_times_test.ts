import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { PutTimes } from "../../src/broker/put_times.ts";

const MINUTE = 60_000;

test("PutTimes shows the last whole minute, and the longest put ever", () => {
  const times = new PutTimes(0);
  for (const ms of [-5, 0, 0, 1, 9, 10, 499, 500, 999, 9_999, 10_000]) {
    times.add(ms);
  }
  assertEquals(times.distribution().startsWith("[<=0ms]:0 "), true);
  times.tick(MINUTE - 1);
  assertEquals(times.distribution().startsWith("[<=0ms]:0 "), true);
  times.tick(MINUTE);
  assertEquals(
    times.distribution(),
    "[<=0ms]:3 [0~10ms]:2 [10~50ms]:1 [50~100ms]:0 [100~200ms]:0 " +
      "[200~500ms]:1 [500ms~1s]:2 [1~2s]:0 [2~3s]:0 [3~4s]:0 [4~5s]:0 " +
      "[5~10s]:1 [10s~]:1 ",
  );
  times.tick(2 * MINUTE);
  assertEquals(times.distribution().includes(":1"), false);
  assertEquals(times.maxMs, 10_000);
});

test("PutTimes has RocketMQ's percentiles", () => {
  const times = new PutTimes(0);
  assertEquals(times.percentile(0.99), 0);
  for (let n = 0; n < 980; n++) times.add(0);
  for (let n = 0; n < 20; n++) times.add(30);
  times.tick(MINUTE);
  // Half of the twenty in the bucket from 28 to 30 ms.
  assertEquals(times.percentile(0.99), 29);
  assertEquals(times.percentile(0.999), 29.9);
  assertEquals(times.percentile(0.5), 500 / 980);
  for (let n = 0; n < 10; n++) times.add(20_000);
  times.tick(2 * MINUTE);
  assertEquals(times.percentile(0.99), 10_000);
});
