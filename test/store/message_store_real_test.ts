import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { openRuntime } from "#runtime";
import { MessageStore } from "../../src/store/message_store.ts";
import { brokerInner } from "../model/message_fixture.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  bytesOf,
  get,
  LinesLogger,
  messagesOf,
  SMALL,
  textOf,
} from "./message_store_fixture.ts";

test("MessageStore keeps acknowledged messages on a real disk, over a clean stop", async () => {
  await withTempDirectory(async (path) => {
    const runtime = openRuntime();
    const open = async () => {
      const store = new MessageStore(
        { ...runtime, logger: new LinesLogger() },
        {
          ...SMALL,
          storePathRootDir: `${path}/store`,
          flushDiskType: "SYNC_FLUSH",
          diskSpaceWarningLevelRatio: 100,
          diskMaxUsedSpaceRatio: 100,
          cleanFileForciblyEnable: false,
        },
      );
      await store.load();
      await store.start();
      return store;
    };
    const store = await open();
    const texts = Array.from({ length: 40 }, (_, it) => `message ${it}`);
    const results = await Promise.all(
      texts.map((it) =>
        store.putMessage(brokerInner({ body: bytesOf(it.padEnd(500)) }))
      ),
    );
    assert(results.every((it) => it.status === "PUT_OK"));
    assertEquals(store.flushedOffset, store.maxPhyOffset);
    await store.shutdown();
    const again = await open();
    assertEquals(again.lastExitOk, true);
    const found = [0, 8, 16, 24, 32].flatMap((it) =>
      messagesOf(get(again, it)).slice(0, 8)
    );
    assertEquals(found.map((it) => textOf(it.body).trim()), texts);
    await again.shutdown();
  });
});
