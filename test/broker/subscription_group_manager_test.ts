import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import { SYSTEM_GROUPS } from "../../src/model/topic_names.ts";
import { ManagerRig, OPTIONS } from "./manager_rig.ts";

/** As a 5.x broker wrote it, with keys that this version does not use. */
const APACHE_FILE = `{
	"dataVersion":{
		"counter":1,
		"stateVersion":0,
		"timestamp":1700000000123
	},
	"forbiddenTable":{
		"GroupTest":{
			"TopicTest":1
		}
	},
	"subscriptionGroupTable":{
		"GroupTest":{
			"attributes":{},
			"brokerId":0,
			"consumeBroadcastEnable":true,
			"consumeEnable":true,
			"consumeFromMinEnable":true,
			"consumeMessageOrderly":false,
			"consumeTimeoutMinute":15,
			"groupName":"GroupTest",
			"groupRetryPolicy":{
				"type":"CUSTOMIZED"
			},
			"groupSysFlag":0,
			"notifyConsumerIdsChangedEnable":false,
			"retryMaxTimes":3,
			"retryQueueNums":2,
			"subscriptionDataSet":[
				{
					"expression":"*",
					"expressionType":"TAG",
					"topic":"TopicTest",
					"version":7
				}
			],
			"whichBrokerWhenConsumeSlowly":1
		}
	}
}`;

test("SubscriptionGroupManager writes what Apache wrote, byte for byte, unknown keys too", () => {
  const rig = new ManagerRig(OPTIONS, { groups: APACHE_FILE });
  const groups = rig.subscriptionGroupManager;
  const config = groups.getSubscriptionGroupConfig("GroupTest")!;
  assertEquals(config.retryMaxTimes, 3);
  assertEquals(config.retryQueueNums, 2);
  assertEquals(config.notifyConsumerIdsChangedEnable, false);
  assertEquals(groups.getForbidden("GroupTest", "TopicTest"), 1);
  assertEquals(groups.getForbidden("GroupTest", "Other"), 0);
  for (const name of SYSTEM_GROUPS) groups.deleteSubscriptionGroupConfig(name);
  const version = /"counter":\d+,\n.*\n\t\t"timestamp":\d+/;
  assertEquals(
    groups.encode().replace(version, version.exec(APACHE_FILE)![0]),
    APACHE_FILE,
  );
});

test("SubscriptionGroupManager creates the system groups", async () => {
  const rig = await new ManagerRig().persisted();
  const groups = rig.subscriptionGroupManager;
  assertEquals([...groups.allGroups().keys()], [...SYSTEM_GROUPS]);
  assertEquals(
    groups.getSubscriptionGroupConfig("CID_RMQ_SYS_TRANS"),
    createSubscriptionGroupConfig("CID_RMQ_SYS_TRANS"),
  );
});

test("findSubscriptionGroupConfig() creates where it may", () => {
  const { subscriptionGroupManager: groups } = new ManagerRig();
  const { counter } = groups.dataVersion;
  assertEquals(groups.findSubscriptionGroupConfig("g")?.retryMaxTimes, 16);
  assertEquals(groups.findSubscriptionGroupConfig("g")?.groupName, "g");
  assertEquals(groups.dataVersion.counter, counter + 1);
  for (const bad of ["", "a b", "x".repeat(121)]) {
    assertEquals(groups.findSubscriptionGroupConfig(bad), undefined);
  }
});

test("findSubscriptionGroupConfig() creates only system groups without auto-creation", () => {
  const { subscriptionGroupManager: groups } = new ManagerRig({
    ...OPTIONS,
    autoCreateSubscriptionGroup: false,
  });
  assertEquals(groups.findSubscriptionGroupConfig("g"), undefined);
  assert(groups.findSubscriptionGroupConfig("CID_RMQ_SYS_x"));
});

test("findSubscriptionGroupConfig() stops at subscriptionGroupMax", () => {
  const rig = new ManagerRig({ ...OPTIONS, subscriptionGroupMax: 9 });
  const groups = rig.subscriptionGroupManager;
  assert(groups.findSubscriptionGroupConfig("g1"));
  assertEquals(groups.findSubscriptionGroupConfig("g2"), undefined);
});

test("updateForbidden() keeps bits per group and topic", () => {
  const { subscriptionGroupManager: groups } = new ManagerRig();
  groups.updateForbidden("g", "t1", 1);
  groups.updateForbidden("g", "t2", 2);
  groups.updateForbidden("g", "t1", 0);
  assertEquals(groups.forbiddenTable(), { g: { t2: 2 } });
  groups.deleteSubscriptionGroupConfig("g");
  assertEquals(groups.forbiddenTable(), {});
});

test("a forbiddenTable of no use does not take the groups with it", () => {
  const rig = new ManagerRig(OPTIONS, {
    groups: '{"forbiddenTable":[1],"subscriptionGroupTable":{"g":{}}}',
  });
  assert(rig.subscriptionGroupManager.containsSubscriptionGroup("g"));
});
