/** Nodes with other file sizes: nothing is transferred, and both sides say why. */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { ApacheBroker } from "./apache_broker.ts";
import {
  createLoadTopics,
  haStatus,
  load,
  namesFileSize,
  OTHER_FILE_SIZE,
} from "./ha_pair.ts";
import { startNamesrv, withInteropSite } from "./interop_site.ts";
import { OurBroker } from "./our_broker.ts";
import { logEndOf } from "./store_compare.ts";

test("Apache 4.9.7 slave with other file sizes gets nothing from our master, which says why", async () => {
  await withInteropSite(async (site) => {
    const namesrv = await startNamesrv(site);
    const master = await site.own(OurBroker.start({
      folder: `${site.folder}/master`,
      namesrv,
    }));
    await createLoadTopics(site, namesrv, master);
    await load(site, "4.9.8", namesrv, 0, 100);
    const slave = await site.own(ApacheBroker.start({
      version: "4.9.7",
      folder: `${site.folder}/slave`,
      namesrv,
      role: "SLAVE",
      settings: OTHER_FILE_SIZE,
    }));
    await site.eventually(
      async () => namesFileSize((await haStatus(master)).reason),
      "a reason that names the file size",
      60_000,
    );
    assertEquals((await haStatus(master)).inSyncSlaveNums, 0);
    assertEquals(logEndOf(slave.storePath), 0);
  });
});
