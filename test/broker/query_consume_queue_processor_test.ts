import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { HEARTBEAT, startBroker } from "./broker_site.ts";

const JAVA_HASH_OF_TAG_A = 2_598_919;

test("321 shows the units of a queue, and what a group subscribes of it", () =>
  withTempDirectory(async (folder) => {
    const { controller, address } = await startBroker(folder, {
      enablePropertyFilter: true,
    });
    const client = await RawClient.open(address);
    for (const tag of ["TagA", "", "TagA"]) {
      const properties = tag === "" ? "" : `TAGS\u0001${tag}\u0002`;
      const sent = await client.send("T", 0, new Uint8Array(3), properties);
      assertEquals(sent.code, 0);
    }
    const query = async (fields: Record<string, string>) => {
      const answer = await client.invoke(321, {
        topic: "T",
        queueId: "0",
        index: "1",
        count: "5",
        ...fields,
      });
      const text = new TextDecoder().decode(answer.body);
      return { ...answer, json: text === "" ? undefined : JSON.parse(text) };
    };
    const found = await query({});
    assertEquals([found.code, found.remark], [0, null]);
    const { queueData, ...rest } = found.json;
    assertEquals(rest, { maxQueueIndex: 3, minQueueIndex: 0 });
    const [second, third] = queueData;
    assertEquals(queueData.length, 2);
    assertEquals(second.tagsCode, 0);
    assertEquals(third.physicOffset, second.physicOffset + second.physicSize);
    assertEquals(third.tagsCode, JAVA_HASH_OF_TAG_A);
    assertEquals((await query({ count: "1" })).json.queueData, [second]);

    const offline = await query({ consumerGroup: "g" });
    assertEquals(offline.json.filterData, "g@T is not online!");
    await client.invoke(34, {}, HEARTBEAT);
    const online = await query({ consumerGroup: "g" });
    assertEquals(online.json.filterData, "null");
    assertEquals(online.json.subscriptionData.subString, "*");

    const sql = new TextDecoder().decode(HEARTBEAT)
      .replace('"groupName":"g"', '"groupName":"sql"')
      .replace('"subString":"*"', '"subString":"a > 1"')
      .replace('"expressionType":"TAG"', '"expressionType":"SQL92"');
    await client.invoke(34, {}, new TextEncoder().encode(sql));
    const { filterData } = (await query({ consumerGroup: "sql" })).json;
    const { expression, consumerGroup } = JSON.parse(filterData);
    assertEquals([expression, consumerGroup], ["a > 1", "sql"]);

    const beyond = await query({ index: "3" });
    assertEquals(
      [beyond.code, beyond.remark, beyond.json.queueData],
      [0, "Index 3 of 0@T is not exist!", []],
    );
    const noQueue = await query({ queueId: "9" });
    assertEquals([noQueue.code, noQueue.remark], [1, "9@T is not exist!"]);
    for (const count of ["-1", "65537"]) {
      const refused = await query({ count });
      assertEquals(
        [refused.code, refused.remark],
        [29, `The count is ${count}, allowed are 0 to 65536.`],
      );
    }
    client.close();
    await controller.stop();
  }));
