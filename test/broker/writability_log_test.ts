import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { WritabilityLog } from "../../src/broker/writability_log.ts";
import { eventually } from "../support/eventually.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { startBroker } from "./broker_site.ts";
import { FakeLogger } from "./fakes.ts";

test("WritabilityLog says once that sends are refused, and once that they are taken", () => {
  const logger = new FakeLogger();
  let reason: string | null = null;
  const log = new WritabilityLog(logger, () => reason);
  log.tick(0);
  assertEquals(logger.lines, []);
  reason = "the disk is full";
  for (const ms of [100, 200]) log.tick(ms);
  reason = "the disk is fuller";
  log.tick(300);
  const refused = "error Sends are refused from now on: the disk is full";
  assertEquals(logger.lines, [refused]);
  // Space for a moment is none.
  reason = null;
  log.tick(1_000);
  reason = "the disk is full";
  log.tick(7_000);
  reason = null;
  for (const ms of [8_000, 12_999]) log.tick(ms);
  assertEquals(logger.lines.length, 1);
  for (const ms of [13_000, 20_000]) log.tick(ms);
  assertEquals(logger.lines, [
    refused,
    "info Sends are taken again",
  ]);
});

test("a broker on a full disk says so in its log", () =>
  withTempDirectory(async (folder) => {
    const { controller, logger } = await startBroker(folder, {}, {
      diskSpaceWarningLevelRatio: 0,
      diskSpaceCleanForciblyRatio: 0,
    });
    try {
      await eventually(() =>
        logger.lines.some((it) => it.includes("Sends are refused"))
      );
      const line = logger.lines.find((it) => it.includes("refused"))!;
      assert(line.includes(folder), line);
    } finally {
      await controller.stop();
    }
  }));
