import { assert, assertEquals } from "@std/assert";
import { it } from "node:test";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { ResponseCode } from "../../src/protocol/response_code.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { startBroker } from "./broker_site.ts";

const LONG = "n".repeat(4 * 1024);
/** Two names of 255 characters and a sentence. */
const REMARK_LENGTH_MAX = 700;
/** A header of V1 and of V2 sends, pulls, commits and administration. */
const NAMES = [
  ...["topic", "group", "consumerGroup", "producerGroup", "groupName"],
  ...["subscriptionGroup", "clientId", "expressionType", "subscription"],
  ...["topicFilterType", "attributes", "properties", "brokerName", "key"],
  ...["namespace", "a", "b", "c", "i"],
];
const NUMBERS = [
  ...["queueId", "queueOffset", "maxMsgNums", "sysFlag", "commitOffset"],
  ...["suspendTimeoutMillis", "subVersion", "offset", "perm", "timestamp"],
  ...["readQueueNums", "writeQueueNums", "topicSysFlag", "maxNum", "flag"],
  ...["bornTimestamp", "reconsumeTimes", "defaultTopicQueueNums"],
  ...["delayLevel", "beginTimestamp", "endTimestamp", "minOffset"],
  ...["d", "e", "f", "g", "h", "j"],
];

it("gives back no name of 4 KiB in any remark", async () => {
  await withTempDirectory(async (folder) => {
    const { controller, address } = await startBroker(folder);
    try {
      const client = await RawClient.open(address);
      const fields = Object.fromEntries([
        ...NAMES.map((it) => [it, LONG]),
        ...NUMBERS.map((it) => [it, "4"]),
      ]);
      for (const code of Object.values(RequestCode)) {
        const body = new TextEncoder().encode(`{"${LONG}":"${LONG}"}`);
        const answer = await client.invoke(code, fields, body);
        const length = answer.remark?.length ?? 0;
        assert(
          length <= REMARK_LENGTH_MAX,
          `request ${code}: ${length} ${answer.remark?.slice(0, 80)}`,
        );
      }
      client.close();
    } finally {
      await controller.stop();
    }
  });
});

it("shows the longest valid name whole", async () => {
  await withTempDirectory(async (folder) => {
    const { controller, address } = await startBroker(folder);
    try {
      const client = await RawClient.open(address);
      const topic = "t".repeat(127);
      const group = "g".repeat(255);
      const unknown = await client.pull(group, topic, 0, 0);
      assertEquals(unknown.code, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST);
      assert(unknown.remark?.includes(group), unknown.remark ?? "");
      client.close();
    } finally {
      await controller.stop();
    }
  });
});
