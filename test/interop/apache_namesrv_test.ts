/**
 * Apache's broker in our name server, our broker in Apache's name server: both serve stock
 * clients, of whose two name servers one is dead, and ours is known again after a restart.
 */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { msUntilRoute } from "../support/namesrv_process.ts";
import { ApacheBroker } from "./apache_broker.ts";
import { ApacheNamesrv } from "./apache_namesrv.ts";
import { freePort } from "./free_ports.ts";
import {
  type InteropSite,
  startNamesrv,
  withInteropSite,
} from "./interop_site.ts";
import { Member, runDriver } from "./java.ts";
import { OurBroker } from "./our_broker.ts";
import { APACHE_SERVER_VERSIONS, driverVersionOf } from "./versions.ts";

const TOPIC = "MixedTopic";
const COUNT = 200;
/** How long a name server that restarts may be without the route. */
const ROUTE_BACK_MS = 2_000;

for (const version of APACHE_SERVER_VERSIONS) {
  test(`Apache ${version} broker registers with our name server and serves a stock client`, async () => {
    await withInteropSite(async (site) => {
      const namesrv = await startNamesrv(site);
      const both = `${await deadAddress()};${namesrv}`;
      const broker = await site.own(
        ApacheBroker.start({
          version,
          folder: `${site.folder}/b`,
          namesrv: both,
        }),
      );
      await makeTopic(site, namesrv, broker.address);
      const received = await startReader(site, version, both);
      await sendAndReceive(site, version, both, received, 0);
    });
  });

  test(`our broker registers with Apache ${version}'s name server, also a restarted one, and serves a stock client`, async () => {
    await withInteropSite(async (site) => {
      const start = (name: string, listenPort?: number) => {
        const folder = `${site.folder}/${name}`;
        return site.own(
          ApacheNamesrv.start({
            version,
            folder,
            ...(listenPort === undefined ? {} : { listenPort }),
          }),
        );
      };
      const theirs = await start("ns");
      const namesrv = theirs.address;
      const both = `${await deadAddress()};${namesrv}`;
      const broker = await site.own(
        OurBroker.start({ folder: `${site.folder}/b`, namesrv: both }),
      );
      await makeTopic(site, namesrv, broker.address);
      const received = await startReader(site, version, both);
      await sendAndReceive(site, version, both, received, 0);
      await theirs.stop("SIGKILL");
      await start("ns-again", Number(namesrv.split(":")[1]));
      const { ms } = await msUntilRoute(namesrv, TOPIC);
      assert(ms < ROUTE_BACK_MS, `no route for ${ms} ms`);
      await sendAndReceive(site, version, both, received, COUNT);
    });
  });
}

/** An address where nobody listens. */
async function deadAddress(): Promise<string> {
  return `127.0.0.1:${await freePort()}`;
}

async function makeTopic(
  site: InteropSite,
  namesrv: string,
  broker: string,
): Promise<void> {
  // A change of topics is told at once, before Apache's own first registration.
  await site.createTopic(namesrv, TOPIC, "--broker", broker);
  await site.registered(namesrv, broker);
}

/** A consumer that stays; answers with the keys that it has so far. */
async function startReader(
  site: InteropSite,
  version: string,
  namesrv: string,
): Promise<() => string[]> {
  const member = await site.own(
    Promise.resolve(
      new Member(driverVersionOf(version), [
        `namesrv=${namesrv}`,
        `topic=${TOPIC}`,
        "group=mixed-group",
        "instance=one",
      ], site.folder),
    ),
  );
  return () => member.deliveries.map((it) => it.key).sort();
}

/** Sends COUNT more with a new producer: all that was sent is received, and nothing twice. */
async function sendAndReceive(
  site: InteropSite,
  version: string,
  namesrv: string,
  received: () => string[],
  from: number,
): Promise<void> {
  const sent = await runDriver(driverVersionOf(version), [
    "send",
    `namesrv=${namesrv}`,
    `topic=${TOPIC}`,
    `from=${from}`,
    `count=${COUNT}`,
  ], site.folder);
  assertEquals(sent.result, { ok: COUNT, faults: 0 }, sent.output);
  const count = from + COUNT;
  await site.eventually(
    () => received().length >= count,
    "all messages",
    60_000,
  );
  assertEquals(
    received(),
    Array.from({ length: count }, (_, i) => `key${i}`).sort(),
  );
}
