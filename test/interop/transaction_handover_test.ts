/** Open transactions go on when a store changes hands: from ours to Apache's broker, and back. */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  COMMIT,
  ROLLBACK,
  TransactionClient,
} from "../support/transaction_client.ts";
import { ApacheBroker } from "./apache_broker.ts";
import { type InteropSite, withInteropSite } from "./interop_site.ts";
import { OurBroker } from "./our_broker.ts";
import { APACHE_SERVER_VERSIONS } from "./versions.ts";

const SETTINGS = {
  transactionTimeOut: "1000",
  // 5.x writes ends down late: a check that is sooner would ask once more.
  transactionCheckInterval: "2000",
  // Some wait unanswered until the store has changed hands.
  transactionCheckMax: "1000",
};

/** Waits for the question about `key`, and ends it. */
async function settle(
  site: InteropSite,
  client: TransactionClient,
  key: string,
  how: string,
): Promise<void> {
  await site.eventually(
    () => client.asked(key) !== undefined,
    `a question about ${key}`,
  );
  await client.end(client.asked(key)!, how);
}

for (const version of APACHE_SERVER_VERSIONS) {
  test(`open transactions go on at Apache ${version}, and back at ours`, () =>
    withInteropSite(async (site) => {
      const options = { folder: site.folder, namesrv: "", settings: SETTINGS };
      const ours = await site.own(OurBroker.start({
        ...options,
        // Nothing is asked here: Apache's broker shall do it.
        settings: { ...SETTINGS, transactionTimeOut: "600000" },
      }));
      const first = await TransactionClient.open(ours.address);
      const done = await first.send("done");
      await first.send("open");
      await first.send("undone");
      await first.send("late");
      await first.end(done, COMMIT);
      first.close();
      await ours.stop();

      const apache = await site.own(
        ApacheBroker.start({
          ...options,
          version,
          settings: {
            ...SETTINGS,
            ...(version.startsWith("5.")
              ? { transactionOpBatchInterval: "100" }
              : {}),
          },
        }),
      );
      const second = await TransactionClient.open(apache.address);
      await settle(site, second, "open", COMMIT);
      await settle(site, second, "undone", ROLLBACK);
      assertEquals(second.asked("done"), undefined);
      await site.eventually(
        async () => (await second.delivered()).length === 2,
        "what was committed at Apache's",
      );
      await second.send("theirs");
      second.close();
      await apache.stop();

      const again = await site.own(OurBroker.start(options));
      const third = await TransactionClient.open(again.address);
      await settle(site, third, "late", COMMIT);
      await settle(site, third, "theirs", COMMIT);
      await site.eventually(() => third.isWorkedOff(), "an end of questions");
      for (const key of ["done", "open", "undone"]) {
        assertEquals(third.asked(key), undefined, key);
      }
      assertEquals(
        (await third.delivered()).sort(),
        ["done", "late", "open", "theirs"],
      );
      third.close();
    }));
}
