import { assert, assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import { DEFAULT_BROKER_OPTIONS } from "../../src/broker/broker_options.ts";
import {
  BROKER_PROGRAM_KEYS,
  brokerNameOf,
  type ConfigProfile,
  loadBrokerConfig,
} from "../../src/config/broker_config.ts";
import { ConfigError } from "../../src/config/config_error.ts";
import {
  environmentNameOf,
  parseSetting,
} from "../../src/config/config_sources.ts";
import { DEFAULT_HA_OPTIONS } from "../../src/ha/ha_options.ts";
import {
  DEFAULT_REMOTING_CLIENT_OPTIONS,
  DEFAULT_REMOTING_SERVER_OPTIONS,
} from "../../src/remoting/remoting_options.ts";
import { DEFAULT_MESSAGE_STORE_OPTIONS } from "../../src/store/store_options.ts";

const HOST = {
  hostname: "edge-7",
  homeDirectory: "/home/rocket",
  memoryLimitBytes: 8 * 1024 ** 3,
  openFilesMax: Infinity,
};

function load(
  options: {
    file?: string;
    env?: Record<string, string>;
    sets?: string[];
    profile?: ConfigProfile;
  } = {},
) {
  return loadBrokerConfig(
    {
      ...(options.file === undefined
        ? {}
        : { file: { name: "broker.conf", text: options.file } }),
      env: options.env ?? {},
      settings: (options.sets ?? []).map(parseSetting),
    },
    options.profile ?? "apache",
    HOST,
  );
}

test("loadBrokerConfig() defaults of `broker` are those of the rooms", () => {
  const { slices } = load();
  assertEquals({ ...slices.broker }, {
    ...DEFAULT_BROKER_OPTIONS,
    brokerName: "edge-7",
    storePathRootDir: "/home/rocket/store",
  });
  assertEquals({ ...slices.store }, {
    ...DEFAULT_MESSAGE_STORE_OPTIONS,
    storePathRootDir: "/home/rocket/store",
    storePathCommitLog: "/home/rocket/store/commitlog",
  });
  assertEquals({ ...slices.ha }, { ...DEFAULT_HA_OPTIONS });
  assertEquals({ ...slices.remotingServer }, {
    ...DEFAULT_REMOTING_SERVER_OPTIONS,
  });
  assertEquals({ ...slices.remotingClient }, {
    ...DEFAULT_REMOTING_CLIENT_OPTIONS,
  });
});

test("loadBrokerConfig() standalone uses small files on loopback", () => {
  const { slices, warnings } = load({ profile: "standalone" });
  assertEquals(slices.broker.bindAddress, "127.0.0.1");
  assertEquals(slices.store.storePathCommitLog, "./pocketmq-data/commitlog");
  assertEquals(slices.store.mappedFileSizeCommitLog, 64 * 1024 * 1024);
  assertEquals(slices.store.mappedFileSizeConsumeQueue % 20, 0);
  assertEquals(slices.store.maxIndexNum, slices.store.maxHashSlotNum * 4);
  assertEquals(warnings, []);
});

test("loadBrokerConfig() a stock broker.conf gives no warning", () => {
  const { slices, warnings, inactive } = load({
    file: `# Licensed
brokerClusterName = DefaultCluster
brokerName = broker-a
brokerId = 0
deleteWhen = 04
fileReservedTime = 48
brokerRole = ASYNC_MASTER
flushDiskType = ASYNC_FLUSH
sendMessageThreadPoolNums=32
transientStorePoolEnable=false
aclEnable=false
storeType=default
enableControllerMode=false
`,
  });
  assertEquals(warnings, []);
  assertEquals(slices.broker.brokerName, "broker-a");
  assertEquals(slices.store.fileReservedTime, 48);
  assertEquals(inactive.get("sendMessageThreadPoolNums"), "32");
});

test("loadBrokerConfig() file < environment < --set, with origins", () => {
  const file = "\nlistenPort=1001\nbrokerName=a\nmaxMessageSize=64K\n";
  const env = { POCKETMQ_LISTEN_PORT: "1002", POCKETMQ_BROKER_NAME: "b" };
  const { values, origins } = load({ file, env, sets: ["listenPort=1003"] });
  assertEquals(values.listenPort, 1003);
  assertEquals(origins.listenPort, { kind: "flag", label: "--set" });
  assertEquals(values.brokerName, "b");
  assertEquals(origins.brokerName.label, "POCKETMQ_BROKER_NAME");
  assertEquals(values.maxMessageSize, 65_536);
  assertEquals(origins.maxMessageSize.label, "broker.conf:4");
  assertEquals(origins.fileReservedTime.kind, "default");
});

test("loadBrokerConfig() NAMESRV_ADDR is weaker than the file", () => {
  const env = { NAMESRV_ADDR: "a:9876" };
  assertEquals(load({ env }).values.namesrvAddr, "a:9876");
  assertEquals(
    load({ env, file: "namesrvAddr=b:9876;c:9876" }).values.namesrvAddr,
    "b:9876;c:9876",
  );
});

test("loadBrokerConfig() old spellings are read", () => {
  const { values, warnings } = load({
    file: "mapedFileSizeCommitLog=134217728",
  });
  assertEquals(values.mappedFileSizeCommitLog, 134_217_728);
  assertEquals(warnings, []);
});

test("loadBrokerConfig() names an unknown key and its nearest", () => {
  const { warnings } = load({
    file: "listenPrt=1\nzzzzzzzzzz=1\nbrokerName=a\nbrokerName=b",
    env: { POCKETMQ_LISTEN_POTR: "1" },
  });
  assertEquals(warnings, [
    "brokerName is given twice; broker.conf:4 wins over broker.conf:3",
    "Unknown key listenPrt (broker.conf:1) is ignored; did you mean listenPort?",
    "Unknown key zzzzzzzzzz (broker.conf:2) is ignored",
    "Unknown key POCKETMQ_LISTEN_POTR (the environment) is ignored; did you mean POCKETMQ_LISTEN_PORT?",
  ]);
});

test("loadBrokerConfig() guesses no key that is far off", () => {
  const { warnings } = load({ file: "quotaEnable=true" });
  assertEquals(warnings, [
    "Unknown key quotaEnable (broker.conf:1) is ignored",
  ]);
});

test("loadBrokerConfig() says once what a key of Apache's does not do", () => {
  const { warnings } = load({
    file: "enableLmq=true\nenableRemoteEscape=false",
  });
  assertEquals(warnings, [
    "enableLmq=true (broker.conf:1) has no effect: light message queues are not supported",
  ]);
});

const BAD: readonly [file: string, includes: readonly string[]][] = [
  ["\nlistenPort=abc", [
    "Cannot use listenPort=abc from broker.conf:2:",
    "whole number from 0 to 65535",
  ]],
  ["listenPort=70000", ["listenPort=70000", "0 to 65535"]],
  ["listenPort=2", ["listenPort=2", "listenPort-2"]],
  ["listenPort=65535", ["listenPort=65535", "listenPort+1"]],
  ["listenPort=", ["listenPort", "whole number"]],
  ["listenPort=10911.5", ["10911.5", "whole number"]],
  ["listenPort=0x10", ["0x10", "whole number"]],
  ["brokerId=-1", ["brokerId=-1", "0 or more"]],
  ["autoCreateTopicEnable=yes", ["autoCreateTopicEnable=yes", "true or false"]],
  ["flushDiskType=SYNC", ["flushDiskType=SYNC", "ASYNC_FLUSH, SYNC_FLUSH"]],
  ["maxMessageSize=4MX", ["maxMessageSize=4MX", "64M"]],
  ["maxMessageSize=0", ["maxMessageSize=0", "from 1"]],
  ["diskMaxUsedSpaceRatio=101", ["from 0 to 100"]],
  ["fileReservedTime=3d", ["fileReservedTime=3d", "(h)"]],
  ["deleteWhen=25", ["deleteWhen=25", "00 to 23"]],
  ["namesrvAddr=localhost", ["namesrvAddr=localhost", "host:port"]],
  ["namesrvAddr=a:1;b:99999", ['"b:99999" is none']],
  ["brokerName=a b", ["brokerName=a b", "letters"]],
  ["messageDelayLevel=1s,5s", ["messageDelayLevel", "spaces"]],
  ["brokerRole=SLAVE", ["brokerId=0", "SLAVE has a brokerId above 0"]],
  ["brokerRole=SLAVE\nbrokerId=1", ["brokerRole=SLAVE", "haMasterAddress"]],
  ["brokerRole=SYNC_MASTER\nbrokerId=1", ["brokerId=1", "has brokerId 0"]],
  ["brokerId=1", ["brokerId=1", "has brokerId 0"]],
  ["haSendHeartbeatInterval=30000", ["below haHousekeepingInterval=20000"]],
  ["authorizationEnabled=true", [
    "authorizationEnabled=true from broker.conf:1",
    "set authenticationEnabled=true too",
  ]],
  ["aclEnable=true\nauthenticationEnabled=true", [
    "aclEnable=true is set too",
    "migrateAuthFromV1Enabled=true",
  ]],
  ["migrateAuthFromV1Enabled=true", ["set authenticationEnabled=true too"]],
  ["authenticationWhitelist=10,x", ["give request codes", "10,310"]],
  ["authorizationProvider=com.example.Mine", ["DefaultAuthorizationProvider"]],
  ["authorizationStrategy=Mine", ["StatelessAuthorizationStrategy"]],
  ["initAuthenticationUser=rocketmq", ["initAuthenticationUser=***", "JSON"]],
  ['innerClientAuthenticationCredentials={"accessKey":"a"}', [
    "innerClientAuthenticationCredentials=***",
    "JSON",
  ]],
  [
    'accessKey=a\nsecretKey=b\ninnerClientAuthenticationCredentials={"accessKey":"a","secretKey":"b"}',
    ["take one of both"],
  ],
  ["aclEnable=on", ["aclEnable=on", "true or false"]],
  ["accessKey=broker-key", ["accessKey=broker-key", "set its secretKey too"]],
  ["secretKey=broker-secret", ["secretKey=***", "set its accessKey too"]],
  ["storeType=defaultRocksDB", ["storeType=defaultRocksDB", "file store"]],
  ["enableControllerMode=true", ["enableControllerMode=true", "second master"]],
  ["enableDLegerCommitLog=true", ["enableDLegerCommitLog=true"]],
  ["adminListenAddress=0.0.0.0", ["adminListenAddress=0.0.0.0", "adminToken"]],
  ["messageVisibleAfter=x", ["append, flush, replicated, or nothing"]],
  ["adminListenAddress=foo", ["adminListenAddress=foo", "127.0.0.1"]],
  ["adminListenAddress=", ["adminListenAddress", "give an IP address"]],
  ["bindAddress=*", ["bindAddress=*", "give an IP address, or a host name"]],
  ["bindAddress=", ["bindAddress", "give an IP address"]],
  ["bindAddress=127.0.0.1:1", ["bindAddress=127.0.0.1:1", "give an IP"]],
  ["brokerIP1=foo_bar", ["brokerIP1=foo_bar", "letters, digits, - and ."]],
  ["brokerIP2=10.0.0.256", ["brokerIP2=10.0.0.256", "give an IP address"]],
  ["maxStoreBytes=1", ["maxStoreBytes=1", "0 (no limit)", "1073741824"]],
  ["adminToken=short", ["adminToken=***", "16 to 256"]],
  ["adminPort=10911", ["adminPort=10911", "already listenPort"]],
  ["haListenPort=10909", ["haListenPort=10909", "VIP"]],
  ["haMasterAddress=a", ["haMasterAddress=a", "host:port"]],
  ["haMasterAddress=a:1;b:2", ["haMasterAddress", "one host:port"]],
  ["haAllowedPeers=10.0.0.0/8;bad", ["haAllowedPeers", '"bad" is none']],
  ["haSyncMode=maybe", ["haSyncMode=maybe", "strict, degrade, async"]],
  ["minInSyncReplicas=3", ["minInSyncReplicas=3", "inSyncReplicas=2"]],
  ["inSyncReplicas=0", ["inSyncReplicas=0", "from 1"]],
  ["maxMessageSize=64M\nmappedFileSizeCommitLog=1M", ["one file"]],
  [
    "mappedFileSizeCommitLog=65536",
    ["mappedFileSizeCommitLog=65536", "give 4390912 or more"],
  ],
  ["storePathCommitLog=/a,/b", ["storePathCommitLog=/a,/b", "not a list"]],
  ["diskSpaceWarningLevelRatio=50", ["diskSpaceCleanForciblyRatio=85"]],
];

for (const [file, includes] of BAD) {
  test(`loadBrokerConfig() refuses ${JSON.stringify(file)}`, () => {
    const error = assertThrows(() => load({ file }), ConfigError);
    for (const part of includes) {
      assert(error.message.includes(part), `"${part}" in "${error.message}"`);
    }
    assert(!error.message.includes("\n"));
  });
}

test("loadBrokerConfig() names variable and flag in errors", () => {
  const fromEnv = assertThrows(
    () => load({ env: { POCKETMQ_LISTEN_PORT: "x" } }),
    ConfigError,
  );
  assert(fromEnv.message.includes("from POCKETMQ_LISTEN_PORT"));
  const fromSet = assertThrows(
    () => load({ sets: ["listenPort=x"] }),
    ConfigError,
  );
  assert(fromSet.message.includes("from --set"));
  assertThrows(() => load({ sets: ["listenPort"] }), ConfigError, "key=value");
  assertThrows(
    () => load({ env: { POCKETMQ_AUTHORIZATION_ENABLED: "true" } }),
    ConfigError,
    "from POCKETMQ_AUTHORIZATION_ENABLED",
  );
});

test("loadBrokerConfig() signs with accessKey, and finds plain_acl.yml in the store", () => {
  assertEquals("credentials" in load({}).slices.remotingClient, false);
  const { slices } = load({
    file:
      "aclEnable=true\nstorePathRootDir=/data/\naccessKey=broker-key\nsecretKey=12345678\n",
  });
  assertEquals(slices.acl.aclEnable, true);
  assertEquals(slices.acl.plainAclFile, "/data/config/plain_acl.yml");
  assertEquals(slices.remotingClient.credentials, {
    accessKey: "broker-key",
    secretKey: "12345678",
  });
});

test("loadBrokerConfig() takes Apache's keys of 5.x's access control", () => {
  const { slices, warnings } = load({
    file: `authenticationEnabled = true
authenticationProvider = org.apache.rocketmq.auth.authentication.provider.DefaultAuthenticationProvider
authenticationMetadataProvider = org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider
authenticationStrategy = org.apache.rocketmq.auth.authentication.strategy.StatefulAuthenticationStrategy
initAuthenticationUser = {"username":"rocketmq","password":"12345678"}
innerClientAuthenticationCredentials = {"accessKey":"inner","secretKey":"inner-secret"}
authorizationEnabled = true
authorizationProvider = org.apache.rocketmq.auth.authorization.provider.DefaultAuthorizationProvider
authorizationMetadataProvider = org.apache.rocketmq.auth.authorization.provider.LocalAuthorizationMetadataProvider
authorizationWhitelist = 10, 310
userCacheMaxNum = 10
`,
  });
  assertEquals(warnings, []);
  assertEquals(slices.remotingClient.credentials, {
    accessKey: "inner",
    secretKey: "inner-secret",
  });
});

test("loadBrokerConfig() takes addresses and names of hosts", () => {
  const hosts = ["10.1.2.3", "::", "fe80::1", "mq-1.example.org", "localhost"];
  for (const brokerIP1 of ["", ...hosts]) {
    const { values } = load({ file: `brokerIP1=${brokerIP1}` });
    assertEquals(values.brokerIP1, brokerIP1);
  }
  for (const bindAddress of hosts) {
    const { values } = load({ file: `bindAddress=${bindAddress}` });
    assertEquals(values.bindAddress, bindAddress);
  }
});

test("environmentNameOf() is UPPER_SNAKE", () => {
  assertEquals(environmentNameOf("haListenPort"), "POCKETMQ_HA_LISTEN_PORT");
  assertEquals(environmentNameOf("brokerIP1"), "POCKETMQ_BROKER_IP1");
  assertEquals(
    environmentNameOf("checkCRCOnRecover"),
    "POCKETMQ_CHECK_CRC_ON_RECOVER",
  );
});

test("environmentNameOf() is unique over all keys", () => {
  const keys = Object.keys(BROKER_PROGRAM_KEYS);
  assertEquals(new Set(keys.map(environmentNameOf)).size, keys.length);
});

test("brokerNameOf() makes a valid name of any host name", () => {
  assertEquals(brokerNameOf("host.example"), "host.example");
  assertEquals(brokerNameOf("höst x"), "h-st-x");
  assertEquals(brokerNameOf(""), "DEFAULT_BROKER");
});

test("loadBrokerConfig() sizes found in a store beat defaults only", () => {
  const adopted = { mappedFileSizeCommitLog: 1024 * 1024 * 128 };
  const config = loadBrokerConfig(
    { env: {}, settings: [] },
    "apache",
    HOST,
    adopted,
  );
  assertEquals(config.slices.store.mappedFileSizeCommitLog, 134_217_728);
  assertEquals(config.slices.store.explicitKeys, []);
});

test("loadBrokerConfig() buffers at most an eighth of a small machine's memory", () => {
  const MIB = 1024 * 1024;
  const limits: [number, ConfigProfile, number][] = [
    [64, "standalone", 4],
    [128, "apache", 16],
    [128, "standalone", 8],
    [1024, "apache", 128],
    [8192, "standalone", 128],
    [1, "apache", 1],
  ];
  for (const [memory, profile, buffered] of limits) {
    const { slices, values } = loadBrokerConfig(
      { env: {}, settings: [] },
      profile,
      { ...HOST, memoryLimitBytes: memory * MIB },
    );
    assertEquals(slices.remotingServer.bufferedBytesMax, buffered * MIB);
    assertEquals(values.bufferedBytesMax, buffered * MIB);
  }
});

test("loadBrokerConfig() leaves room for sockets below the limit of open files", () => {
  const limits: [number, ConfigProfile, number, number][] = [
    [Infinity, "apache", 512, 10_000],
    [20_000, "standalone", 512, 9_712],
    [1024, "apache", 512, 448],
    [512, "apache", 256, 192],
    [512, "standalone", 256, 96],
    [40, "apache", 20, 16],
  ];
  for (const [openFilesMax, profile, files, connections] of limits) {
    const { slices } = loadBrokerConfig(
      { env: {}, settings: [] },
      profile,
      { ...HOST, openFilesMax },
    );
    assertEquals(slices.store.storeOpenFilesMax, files);
    assertEquals(slices.remotingServer.connectionsMax, connections);
  }
});

test("loadBrokerConfig() takes every role, and both spellings of a key", () => {
  assertEquals(
    load({ file: "brokerRole=SYNC_MASTER\nhaMaxGapNotInSync=1M" }).slices.ha
      .haSlaveFallbehindMax,
    1_048_576,
  );
  const { slices } = load({
    file: "brokerRole=SLAVE\nbrokerId=1\nhaMasterAddress=10.0.0.5:10912",
  });
  assertEquals(slices.store.brokerRole, "SLAVE");
  assertEquals(slices.ha.haMasterAddress, "10.0.0.5:10912");
});
