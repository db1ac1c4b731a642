/** A slave of ours that ends below the first byte of Apache's master begins anew there. */
import { assert, assertEquals } from "@std/assert";
import { readdirSync, rmSync } from "node:fs";
import { test } from "node:test";
import { ApacheBroker } from "./apache_broker.ts";
import {
  awaitCopy,
  createLoadTopics,
  follows,
  haStatus,
  load,
} from "./ha_pair.ts";
import { startNamesrv, withInteropSite } from "./interop_site.ts";
import { OurBroker } from "./our_broker.ts";
import { logEndOf } from "./store_compare.ts";
import { APACHE_SERVER_VERSIONS, driverVersionOf } from "./versions.ts";

const COUNT = 500;
/** About 1 KiB a message and 1 MiB a file. */
const MORE = 4_000;

for (const version of APACHE_SERVER_VERSIONS) {
  test(`our slave that Apache ${version}'s master has left behind begins anew by itself`, async () => {
    await withInteropSite(async (site) => {
      const driver = driverVersionOf(version);
      const namesrv = await startNamesrv(site);
      const options = {
        version,
        folder: `${site.folder}/master`,
        namesrv,
        role: "ASYNC_MASTER" as const,
      };
      const before = await site.own(ApacheBroker.start(options));
      const slaveOptions = {
        folder: `${site.folder}/slave`,
        namesrv,
        role: "SLAVE" as const,
        brokerId: 1,
      };
      await createLoadTopics(site, namesrv, before);
      const away = await site.own(OurBroker.start(slaveOptions));
      await follows(site, away);
      await load(site, driver, namesrv, 0, COUNT);
      const end = logEndOf(before.storePath);
      await site.eventually(
        () => logEndOf(away.storePath) === end,
        "a slave that has everything",
      );
      assertEquals(await away.stop(), 0);
      await load(site, driver, namesrv, COUNT, MORE);
      await before.stop();
      const log = `${before.storePath}/commitlog`;
      const [first, second, third] = readdirSync(log).sort();
      assert(Number(third) > end, `${third} and ${end}`);
      for (const it of [first!, second!]) rmSync(`${log}/${it}`);
      const { listenPort } = before;
      const master = await site.own(
        ApacheBroker.start({ ...options, listenPort }),
      );
      const slave = await site.own(OurBroker.start(slaveOptions));
      const copied = await awaitCopy(site, master, slave, MORE / 2);
      assertEquals(copied.minOffset, Number(third));
      const asides = readdirSync(`${slave.storePath}/aside`);
      assertEquals(asides.length, 1);
      const [aside] = asides;
      assertEquals(logEndOf(`${slave.storePath}/aside/${aside}`), end);
      await site.eventually(
        async () => (await haStatus(slave)).state === "healthy",
        "a healthy slave",
      );
    });
  });
}
