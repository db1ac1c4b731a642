import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { test } from "node:test";
import {
  BROKER_PROGRAM_KEYS,
  loadBrokerConfig,
} from "../../src/config/broker_config.ts";
import {
  checkBrokerRules,
  checkRoleChange,
} from "../../src/config/broker_rules.ts";
import { ConfigError } from "../../src/config/config_error.ts";
import {
  Configuration,
  ForbiddenKeyError,
} from "../../src/config/configuration.ts";
import { parseProperties } from "../../src/config/properties.ts";

function open(
  text = "# ours\nfileReservedTime=48\nsendThreadPoolQueueCapacity=7\n",
) {
  const file = {
    name: "broker.conf",
    text,
    read: () => file.text,
    replace: (next: string) => {
      file.text = next;
      return Promise.resolve();
    },
  };
  const load = () =>
    loadBrokerConfig(
      {
        file: { name: file.name, text: file.text },
        env: { POCKETMQ_ADMIN_TOKEN: "0123456789abcdef" },
        settings: [],
      },
      "apache",
      {
        hostname: "h",
        homeDirectory: "/home",
        memoryLimitBytes: 8 * 1024 ** 3,
        openFilesMax: Infinity,
      },
    );
  let nowMs = 1_000;
  const configuration = new Configuration(
    BROKER_PROGRAM_KEYS,
    load(),
    file,
    () => nowMs++,
    (it) => checkBrokerRules(it.values, it.origins),
  );
  return { file, load, configuration };
}

test("Configuration.text() lists all keys but secrets and those of TLS", () => {
  const entries = parseProperties(open().configuration.text());
  const values = new Map(entries.map((it) => [it.key, it.value]));
  assertEquals(values.get("fileReservedTime"), "48");
  assertEquals(values.get("mappedFileSizeCommitLog"), "1073741824");
  assertEquals(values.get("sendThreadPoolQueueCapacity"), "7");
  assertEquals(values.has("adminToken"), false);
  assertEquals(values.has("tls.server.keyPath"), false);
  // Of what is not done here: 4.9's exportConfigs fails without.
  assertEquals(values.get("filterServerNums"), "0");
  assertEquals(values.get("useTLS"), "false");
});

test("Configuration.text() leaves out secrets of whatever kind, ours or Apache's", () => {
  const { configuration } = open(
    'accessKey=broker-key\nsecretKey=the-secret-1\ninitAuthenticationUser={"username":"root-user","password":"the-secret-2"}\n' +
      "sslPassword=the-secret-4\n",
  );
  const shown = configuration.text() + JSON.stringify(configuration.entries());
  assert(shown.includes("broker-key") && !shown.includes("the-secret"), shown);
  const inner = open(
    'innerClientAuthenticationCredentials={"accessKey":"inner","secretKey":"the-secret-3"}\n',
  ).configuration;
  const text = inner.text() + JSON.stringify(inner.entries());
  assert(!text.includes("the-secret"), text);
});

test("Configuration.entries() masks secrets and shows origins", () => {
  const entries = open().configuration.entries();
  const of = (key: string) => entries.find((it) => it.key === key);
  assertEquals(of("adminToken")?.value, "***");
  assertEquals(of("adminToken")?.origin, "POCKETMQ_ADMIN_TOKEN");
  assertEquals(of("fileReservedTime")?.origin, "broker.conf:2");
  assertEquals(of("listenPort")?.origin, "default");
});

test("Configuration.update() applies live keys and persists all", async () => {
  const { configuration, file } = open();
  const seen: (readonly string[])[] = [];
  configuration.onChanged = (_values, changed) => seen.push(changed);
  const change = await configuration.update(
    new Map([["fileReservedTime", " 24 "], ["listenPort", "0"], ["xyz", "1"]]),
  );
  assertEquals(change, {
    changed: ["fileReservedTime"],
    afterRestart: ["listenPort"],
    unknown: ["xyz"],
    isPersisted: true,
  });
  assertEquals(seen, [["fileReservedTime"]]);
  assertEquals(configuration.values.fileReservedTime, 24);
  assertEquals(configuration.values.listenPort, 10_911);
  assertEquals(configuration.dataVersion.counter, 1);
  assert(file.text.startsWith("# ours\n"));
  assertEquals(
    parseProperties(file.text).map((it) => `${it.key}=${it.value}`),
    ["fileReservedTime=24", "sendThreadPoolQueueCapacity=7", "listenPort=0"],
  );
});

test("Configuration.update() changes nothing when one value is bad", async () => {
  const { configuration, file } = open();
  const before = file.text;
  await assertRejects(
    () =>
      configuration.update(
        new Map([["fileReservedTime", "24"], ["deleteWhen", "noon"]]),
      ),
    ConfigError,
    "deleteWhen=noon",
  );
  await assertRejects(
    () =>
      configuration.update(
        new Map([["maxMessageSize", "67108864"], [
          "mappedFileSizeCommitLog",
          "65536",
        ]]),
      ),
    ConfigError,
    "one file",
  );
  assertEquals(configuration.values.fileReservedTime, 48);
  assertEquals(file.text, before);
});

test("Configuration.update() refuses keys that decide who comes in", async () => {
  const { configuration } = open();
  for (
    const key of [
      "adminToken",
      "bindAddress",
      "configBlackList",
      "aclEnable",
      "plainAclFile",
      "accessKey",
      "secretKey",
    ]
  ) {
    await assertRejects(
      () => configuration.update(new Map([[key, "x"]])),
      ForbiddenKeyError,
      key,
    );
  }
});

test("Configuration.reload() takes live keys and names the rest", () => {
  const { configuration, file, load } = open();
  file.text = "fileReservedTime=12\nlistenPort=20911\n";
  const change = configuration.reload(load());
  assertEquals(change.changed, ["fileReservedTime"]);
  assertEquals(change.afterRestart, ["listenPort"]);
  assertEquals(configuration.values.fileReservedTime, 12);
  assertEquals(configuration.origins.fileReservedTime.label, "broker.conf:1");
});

test("Configuration.found() shows what the start found out", () => {
  const { configuration, load } = open("listenPort=0\n");
  configuration.found({ listenPort: 40_001 }, "a free port");
  assertEquals(configuration.values.listenPort, 40_001);
  assertEquals(
    configuration.origins.listenPort.label,
    "broker.conf:1, a free port",
  );
  assert(configuration.text().includes("listenPort=40001\n"));
  assertEquals(configuration.reload(load()).afterRestart, []);
  assert(configuration.explicitKeys.includes("listenPort"));
});

test("brokerRole changes between both kinds of master, and is written down", async () => {
  const { configuration, file, load } = open("brokerRole=SYNC_MASTER\n");
  const change = await configuration.update(
    new Map([["brokerRole", "ASYNC_MASTER"]]),
  );
  assertEquals([change.changed, change.isPersisted], [["brokerRole"], true]);
  assertEquals(configuration.values.brokerRole, "ASYNC_MASTER");
  // To SLAVE is more than a key: the file may say so, and it holds after a restart.
  file.text = "brokerRole=SLAVE\nbrokerId=1\nnamesrvAddr=ns:9876\n";
  const { afterRestart, changed } = configuration.reload(load());
  assert(
    afterRestart.includes("brokerRole") && !changed.includes("brokerRole"),
  );
  assertEquals(configuration.values.brokerRole, "ASYNC_MASTER");
});

test("a value that the start found in the place of a configured one is changed there", async () => {
  const text = "brokerRole=SLAVE\nbrokerId=1\nnamesrvAddr=ns:9876\n";
  const { configuration, file, load } = open(text);
  configuration.found(
    { brokerRole: "ASYNC_MASTER", brokerId: 0 },
    "as config/haRole.json has it",
  );
  let told = "";
  configuration.onChanged = async ({ brokerRole }) => {
    await Promise.resolve();
    told = brokerRole;
  };
  const change = await configuration.update(
    new Map([["brokerRole", "SYNC_MASTER"]]),
  );
  assertEquals(change.changed, ["brokerRole"]);
  assertEquals(change.isPersisted, true);
  // Whoever is told has done its work by now.
  assertEquals(told, "SYNC_MASTER");
  assertEquals(file.text, text);
  configuration.reload(load());
  assertEquals(configuration.values.brokerRole, "SYNC_MASTER");
  assertEquals(configuration.values.brokerId, 0);
  // The override ends with its reason.
  configuration.found({ brokerRole: "SLAVE", brokerId: 1 }, "as before");
  assertEquals(configuration.values.brokerRole, "SLAVE");
});

test("what haRole.json decides is refused with what to do, and never written beside the rest", async () => {
  const text = "brokerRole=SYNC_MASTER\nnamesrvAddr=ns:9876\n";
  const { configuration, file } = open(text);
  const instead = "do that by `pocketmq ha demote`";
  configuration.found({ brokerRole: "SLAVE", brokerId: 2 }, "r", instead);
  const set = (key: string, value: string) =>
    configuration.update(new Map([[key, value]]));
  for (
    const [key, value] of [["brokerId", "3"], ["brokerRole", "ASYNC_MASTER"]]
  ) {
    await assertRejects(() => set(key!, value!), ConfigError, instead);
  }
  // As it is already; written down, brokerRole=SLAVE would stand beside brokerId=0.
  assertEquals((await set("brokerRole", "SLAVE")).afterRestart, []);
  assertEquals((await set("brokerId", "2")).afterRestart, []);
  assertEquals(file.text, text);
  // Other keys go on, and the refusal ends with its reason.
  assertEquals((await set("brokerPermission", "4")).changed, [
    "brokerPermission",
  ]);
  configuration.found({ brokerRole: "SYNC_MASTER", brokerId: 0 }, "r");
  assertEquals((await set("brokerRole", "ASYNC_MASTER")).changed, [
    "brokerRole",
  ]);
});

test("a key that every object inherits is as unknown as any other", async () => {
  const keys = ["__proto__", "constructor", "toString"];
  const { configuration, load } = open(keys.map((it) => `${it}=1\n`).join(""));
  assertEquals(
    load().warnings.map((it) => it.split(" (")[0]),
    keys.map((it) => `Unknown key ${it}`),
  );
  const changes = new Map(keys.map((it) => [it, "1"]));
  assertEquals((await configuration.update(changes)).unknown, keys);
  assertEquals(configuration.lostBy(changes), []);
});

test("checkRoleChange names the command that changes the role", () => {
  checkRoleChange("SYNC_MASTER", "ASYNC_MASTER");
  checkRoleChange("SLAVE", "SLAVE");
  const cases = [
    ["SLAVE", "SYNC_MASTER", "pocketmq ha promote"],
    ["ASYNC_MASTER", "SLAVE", "pocketmq ha demote"],
  ] as const;
  for (const [from, to, command] of cases) {
    assertThrows(() => checkRoleChange(from, to), ConfigError, command);
  }
});
