import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import type { MessageStore } from "../../src/store/message_store.ts";
import { verifyStore } from "../../src/store/store_verify.ts";
import { get, put, ROOT, StoreSite } from "./message_store_fixture.ts";

const COUNT = 8;

/** Min and max of a topic's queue, and how a pull at its beginning is answered. */
function seen(store: MessageStore, topic: string) {
  const { status, nextBeginOffset } = get(store, 0, 3, topic);
  return {
    min: store.getMinOffsetInQueue(topic, 3),
    max: store.getMaxOffsetInQueue(topic, 3),
    status,
    nextBeginOffset,
  };
}

test("74: a quiet topic whose log files are gone is empty, and its offsets go on", async () => {
  const site = new StoreSite();
  const store = await site.open();
  for (const topic of ["first", "second", "third"]) {
    for (let sent = 0; sent < COUNT; sent++) {
      put(store, { topic, body: new Uint8Array(900) });
    }
  }
  const { mappedFileQueue } = store.commitLog;
  // Four records each: all of `first`, half of `second`.
  assertEquals(mappedFileQueue.files.length, 6);
  await mappedFileQueue.deleteFirstFiles(3);
  await store.cleanExpiredConsumeQueue();
  const emptied = {
    min: COUNT,
    max: COUNT,
    status: "OFFSET_TOO_SMALL",
    nextBeginOffset: COUNT,
  };
  assertEquals(seen(store, "first"), emptied);
  assertEquals(seen(store, "second").min, COUNT / 2);
  assertEquals(get(store, COUNT / 2, 3, "second").status, "FOUND");
  await store.shutdown();
  assert((await verifyStore(site.disk, ROOT)).isSound);
  const again = await site.open();
  assertEquals(seen(again, "first"), emptied);
  assertEquals(put(again, { topic: "first" }).queueOffset, COUNT);
  assertEquals(get(again, COUNT, 3, "first").status, "FOUND");
  await again.shutdown();
});
