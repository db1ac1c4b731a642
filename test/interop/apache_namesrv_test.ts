/** Apache's broker in our name server, our broker in Apache's name server: both serve stock clients. */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { ApacheBroker } from "./apache_broker.ts";
import { ApacheNamesrv } from "./apache_namesrv.ts";
import {
  type InteropSite,
  startNamesrv,
  withInteropSite,
} from "./interop_site.ts";
import { Member, runDriver } from "./java.ts";
import { OurBroker } from "./our_broker.ts";
import { APACHE_SERVER_VERSIONS, driverVersionOf } from "./versions.ts";

const COUNT = 200;

for (const version of APACHE_SERVER_VERSIONS) {
  test(`Apache ${version} broker registers with our name server and serves a stock client`, async () => {
    await withInteropSite(async (site) => {
      const namesrv = await startNamesrv(site);
      const broker = await site.own(
        ApacheBroker.start({ version, folder: `${site.folder}/b`, namesrv }),
      );
      await sendAndReceive(site, version, namesrv, broker.address);
    });
  });

  test(`our broker registers with Apache ${version}'s name server and serves a stock client`, async () => {
    await withInteropSite(async (site) => {
      const theirs = await site.own(
        ApacheNamesrv.start({ version, folder: `${site.folder}/ns` }),
      );
      const broker = await site.own(
        OurBroker.start({
          folder: `${site.folder}/b`,
          namesrv: theirs.address,
        }),
      );
      await sendAndReceive(site, version, theirs.address, broker.address);
    });
  });
}

async function sendAndReceive(
  site: InteropSite,
  version: string,
  namesrv: string,
  broker: string,
): Promise<void> {
  const driver = driverVersionOf(version);
  // A change of topics is told at once, before Apache's own first registration.
  await site.createTopic(namesrv, "MixedTopic", "--broker", broker);
  await site.registered(namesrv, broker);
  const sent = await runDriver(driver, [
    "send",
    `namesrv=${namesrv}`,
    "topic=MixedTopic",
    `count=${COUNT}`,
  ], site.folder);
  assertEquals(sent.result, { ok: COUNT, faults: 0 }, sent.output);
  const member = await site.own(
    Promise.resolve(
      new Member(driver, [
        `namesrv=${namesrv}`,
        "topic=MixedTopic",
        "group=mixed-group",
        "instance=one",
      ], site.folder),
    ),
  );
  const keys = () => member.deliveries.map((it) => it.key).sort();
  await site.eventually(() => keys().length >= COUNT, "all messages", 60_000);
  assertEquals(
    keys(),
    Array.from({ length: COUNT }, (_, i) => `key${i}`).sort(),
  );
}
