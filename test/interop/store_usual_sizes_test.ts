/** File sizes that nobody has set: Apache's, which are sparse and cost nothing. */
import { assertEquals } from "@std/assert";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { RawClient } from "../support/raw_client.ts";
import { StoreContent } from "../support/store_content.ts";
import { OTHER_GROUP } from "../support/store_messages.ts";
import { ApacheBroker } from "./apache_broker.ts";
import { type InteropSite, withInteropSite } from "./interop_site.ts";
import { metadataTables } from "./metadata_tables.ts";
import { OurBroker } from "./our_broker.ts";
import { apacheKeys, verifySound } from "./store_copy.ts";
import { checkStore, NEXT_BODY } from "./store_readback.ts";

test("a store with files of Apache's usual sizes goes from our broker to 4.9.7 and back, after kill -9", async () => {
  await withInteropSite(async (site) => {
    const folder = `${site.folder}/usual`;
    const settings = { flushConsumerOffsetInterval: "300" };
    const options = { folder, namesrv: "", fileSizes: {}, settings };
    const ours = await site.own(OurBroker.start(options));
    const client = await RawClient.open(ours.address);
    const content = new StoreContent();
    await content.createTables(client);
    await content.send(client, 300);
    await content.commit(client);
    const tables = await metadataTables(ours.address);
    client.close();
    await positionsAreKept(site, ours.storePath);
    await ours.stop("SIGKILL");
    const keys = await apacheKeys(ours.storePath);
    assertEquals(keys.mappedFileSizeCommitLog, String(2 ** 30));
    assertEquals(keys.mappedFileSizeConsumeQueue, "6000000");
    assertEquals(keys.maxIndexNum, "20000000");
    const theirs = await site.own(
      ApacheBroker.start({ ...options, version: "4.9.7", settings: keys }),
    );
    await checkStore(theirs.address, content, tables);
    await theirs.stop("SIGKILL");
    await verifySound(ours.storePath);
    content.uncertain.push({ ...content.messages[0]!, body: NEXT_BODY });
    const again = await site.own(OurBroker.start(options));
    await checkStore(again.address, content, tables);
    assertEquals(await again.stop(), 0);
  });
});

async function positionsAreKept(site: InteropSite, store: string) {
  const path = `${store}/config/consumerOffset.json`;
  await site.eventually(
    () => existsSync(path) && readFileSync(path, "utf8").includes(OTHER_GROUP),
    "positions on disk",
  );
}
