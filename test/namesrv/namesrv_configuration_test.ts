import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  configEntries,
  updateConfig,
} from "../../src/namesrv/namesrv_configuration.ts";
import { DEFAULT_NAMESRV_OPTIONS } from "../../src/namesrv/namesrv_options.ts";

const update = (...entries: [string, string][]) =>
  updateConfig(DEFAULT_NAMESRV_OPTIONS, new Map(entries));

test("updateConfig() changes live keys and ignores unknown ones", () => {
  const result = update(
    ["orderMessageEnable", "true"],
    ["scanNotActiveBrokerInterval", "1000"],
    ["fooBar", "1"],
    ["listenPort", "9876"],
  );
  assert(result.kind === "updated");
  assertEquals(result.options, {
    ...DEFAULT_NAMESRV_OPTIONS,
    orderMessageEnable: true,
    scanNotActiveBrokerInterval: 1000,
  });
  assertEquals(result.unknown, ["fooBar"]);
  assertEquals(
    result.changed,
    ["orderMessageEnable", "scanNotActiveBrokerInterval"],
  );
});

test("updateConfig() refuses unsafe keys with 16, all or nothing", () => {
  for (
    const key of [
      "configStorePath",
      "kvConfigPath",
      "rocketmqHome",
      "configBlackList",
    ]
  ) {
    const result = update(["orderMessageEnable", "true"], [key, "/tmp/x"]);
    assert(result.kind === "refused");
    assertEquals(result.code, 16);
  }
});

test("updateConfig() says why a value is refused", () => {
  const restart = update(["listenPort", "1"]);
  const broken = update(["scanNotActiveBrokerInterval", "soon"]);
  assert(restart.kind === "refused" && broken.kind === "refused");
  assertEquals(
    restart.reason,
    "listenPort can only be changed in the configuration file, with a restart",
  );
  assertEquals(
    broken.reason,
    'scanNotActiveBrokerInterval cannot be "soon"',
  );
});

test("configEntries() names every option", () => {
  const entries = configEntries(DEFAULT_NAMESRV_OPTIONS);
  assertEquals(entries.length, Object.keys(DEFAULT_NAMESRV_OPTIONS).length);
  assertEquals(entries.find(([key]) => key === "listenPort")?.[1], "9876");
});
