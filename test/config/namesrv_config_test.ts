import { assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import { ConfigError } from "../../src/config/config_error.ts";
import { parseSetting } from "../../src/config/config_sources.ts";
import { loadNamesrvConfig } from "../../src/config/namesrv_config.ts";
import { DEFAULT_NAMESRV_OPTIONS } from "../../src/namesrv/namesrv_options.ts";

const HOST = {
  hostname: "h",
  homeDirectory: "/home/rocket",
  memoryLimitBytes: 8 * 1024 ** 3,
  openFilesMax: Infinity,
};

test("loadNamesrvConfig() defaults are those of the room", () => {
  const { slices } = loadNamesrvConfig({ env: {}, settings: [] }, HOST);
  assertEquals({ ...slices.namesrv }, {
    ...DEFAULT_NAMESRV_OPTIONS,
    kvConfigPath: "/home/rocket/namesrv/kvConfig.json",
  });
});

test("loadNamesrvConfig() reads file and flags", () => {
  const { slices, warnings } = loadNamesrvConfig({
    file: {
      name: "namesrv.conf",
      text: "listenPort=19876\nserverWorkerThreads=8\nlisten=1\n__proto__=1",
    },
    env: {},
    settings: [parseSetting("orderMessageEnable=TRUE")],
  }, HOST);
  assertEquals(slices.namesrv.listenPort, 19_876);
  assertEquals(slices.namesrv.orderMessageEnable, true);
  assertEquals(slices.namesrv.configStorePath, "namesrv.conf");
  assertEquals(warnings, [
    "Unknown key listen (namesrv.conf:3) is ignored",
    "Unknown key __proto__ (namesrv.conf:4) is ignored",
  ]);
});

test("loadNamesrvConfig() refuses the controller", () => {
  assertThrows(
    () =>
      loadNamesrvConfig({
        env: {},
        settings: [parseSetting("enableControllerInNamesrv=true")],
      }, HOST),
    ConfigError,
    "controller",
  );
});
