import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { brokerInner } from "../model/message_fixture.ts";
import {
  bytesOf,
  get,
  messagesOf,
  put,
  StoreSite,
  textOf,
} from "./message_store_fixture.ts";

test("MessageStore finds offsets by time, lower and upper", async () => {
  const site = new StoreSite();
  const store = await site.open();
  const startMs = site.clock.nowMs();
  // Two messages at each of 0, 100, 200 … 900 ms.
  for (let count = 0; count < 20; count++) {
    if (count > 0 && count % 2 === 0) site.clock.advance(100);
    put(store);
  }
  const at = (ms: number, boundary: "lower" | "upper") =>
    store.getOffsetInQueueByTime("TopicTest", 3, startMs + ms, boundary);
  assertEquals(await at(-1, "lower"), 0);
  assertEquals(await at(0, "lower"), 0);
  assertEquals(await at(250, "lower"), 6);
  assertEquals(await at(300, "lower"), 6);
  assertEquals(await at(901, "lower"), 20);
  assertEquals(await at(250, "upper"), 5);
  assertEquals(await at(300, "upper"), 7);
  assertEquals(await at(5_000, "upper"), 19);
  assertEquals(await at(-1, "upper"), 0);
  assertEquals(
    await store.getOffsetInQueueByTime("Nobody", 0, startMs, "lower"),
    0,
  );
  assertEquals(await store.getEarliestMessageTime("TopicTest", 3), startMs);
  assertEquals(
    await store.getMessageStoreTimeStamp("TopicTest", 3, 19),
    startMs + 900,
  );
  assertEquals(await store.getMessageStoreTimeStamp("TopicTest", 3, 20), -1);
  assertEquals(await store.getEarliestMessageTime("Nobody", 0), -1);
  await store.shutdown();
});

test("MessageStore.selectOneMessageByOffset() gives whole records only", async () => {
  const store = await new StoreSite().open();
  const first = put(store, { body: bytesOf("first") });
  const second = put(store, { body: bytesOf("second") });
  const bytes = await store.selectOneMessageByOffset(second.phyOffset);
  assertEquals(textOf(decodeMessageRecord(bytes!).body), "second");
  const wrong = [
    first.phyOffset + 1,
    second.phyOffset - 4,
    second.phyOffset + second.size,
    -1,
    Number.MAX_SAFE_INTEGER,
    Number.NaN,
  ];
  for (const offset of wrong) {
    assertEquals(await store.selectOneMessageByOffset(offset), undefined);
  }
  await store.shutdown();
});

test("MessageStore.queryMessage() compares the real key, and finds a message once", async () => {
  const site = new StoreSite();
  const store = await site.open();
  const keys = (uniqKey: string, text: string) => ({
    body: bytesOf(text),
    propertiesText: `UNIQ_KEY\u0001${uniqKey}\u0002KEYS\u0001${text}\u0002`,
  });
  put(store, keys("U1", "alpha beta"));
  put(store, keys("U2", "beta"));
  // Its KEYS hold its unique key, and "Aa" and "BB" have the same hash.
  put(store, keys("U3", "U3 Aa"));
  put(store, keys("U4", "BB"));
  put(store, { ...keys("U5", "beta"), topic: "Other" });
  const find = async (key: string, maxNum = 32, topic = "TopicTest") => {
    const endMs = site.clock.nowMs() + 1;
    const found = await store.queryMessage(topic, key, maxNum, 0, endMs);
    return found.records.map((it) => textOf(decodeMessageRecord(it).body));
  };
  assertEquals(await find("U1"), ["alpha beta"]);
  assertEquals(await find("beta"), ["alpha beta", "beta"]);
  assertEquals(await find("U3"), ["U3 Aa"]);
  assertEquals(await find("Aa"), ["U3 Aa"]);
  assertEquals(await find("BB"), ["BB"]);
  assertEquals(await find("beta", 32, "Other"), ["beta"]);
  assertEquals(await find("alph"), []);
  const none = await store.queryMessage("TopicTest", "U1", 1, 0, 1_000);
  assertEquals(none.records, []);
  const all = await store.queryMessage("TopicTest", "U1", 1, 0, 1e15);
  assertEquals(all.indexLastUpdateTimestamp, site.clock.nowMs());
  assert(all.indexLastUpdatePhyoffset > 0);
  await store.shutdown();
});

test("MessageStore.deleteTopics() removes queues; the topic begins anew, also after a crash", async () => {
  const site = new StoreSite();
  const store = await site.open({ flushDiskType: "SYNC_FLUSH" });
  const send = async (text: string) => {
    const body = bytesOf(text);
    return await store.putMessage(brokerInner({ body }));
  };
  for (const text of ["a", "b", "c"]) await send(text);
  await store.deleteTopics(["TopicTest"]);
  assertEquals(store.topics(), []);
  assertEquals((await send("new")).queueOffset, 0);
  site.disk.kill();
  const again = await site.open();
  assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), 1);
  assertEquals(messagesOf(get(again, 0)).map((it) => textOf(it.body)), ["new"]);
  await again.shutdown();
});
