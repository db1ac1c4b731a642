import { assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import { loadBrokerConfig } from "../../src/config/broker_config.ts";
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

test("standalone takes the keys of a name server, but for those of places", () => {
  const given = {
    file: { name: "b.conf", text: "topicsMax=7\nstorePathRootDir=/s/" },
    env: { POCKETMQ_ORDER_MESSAGE_ENABLE: "true" },
    settings: [
      parseSetting("supportActingMaster=true"),
      parseSetting("listenPort=5"),
    ],
  };
  const { namesrv, values, warnings } = loadBrokerConfig(
    given,
    "standalone",
    HOST,
  );
  assertEquals(warnings, []);
  assertEquals(values.listenPort, 5);
  const {
    bindAddress: _,
    configStorePath: __,
    listenPort: ___,
    ...defaults
  } = DEFAULT_NAMESRV_OPTIONS;
  assertEquals({ ...namesrv?.values }, {
    ...defaults,
    kvConfigPath: "/s/namesrv/kvConfig.json",
    orderMessageEnable: true,
    supportActingMaster: true,
    topicsMax: 7,
  });
  assertEquals(namesrv?.origins.topicsMax.label, "b.conf:1");
  const broker = loadBrokerConfig(given, "apache", HOST);
  assertEquals(broker.namesrv, null);
  assertEquals(broker.warnings.length, 3);
  const error = assertThrows(
    () =>
      loadBrokerConfig(
        { env: {}, settings: [parseSetting("topicsMax=0")] },
        "standalone",
        HOST,
      ),
    ConfigError,
  );
  assertEquals(error.key, "topicsMax");
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
