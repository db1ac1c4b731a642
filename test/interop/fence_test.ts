/** A promoted slave and the master that comes back, at Apache's name servers: who has the route. */
import { assert, assertEquals } from "@std/assert";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { decodeTopicRouteData } from "../../src/protocol/body/topic_route_data.ts";
import { FailoverBroker, hammer, inSync } from "../support/failover_site.ts";
import { RawClient } from "../support/raw_client.ts";
import { ApacheNamesrv } from "./apache_namesrv.ts";
import { withInteropSite } from "./interop_site.ts";
import { APACHE_SERVER_VERSIONS } from "./versions.ts";

for (const version of APACHE_SERVER_VERSIONS) {
  test(`an overtaken master accepts nothing and takes no route from Apache ${version}'s name server`, async () => {
    await withInteropSite(async (site) => {
      const { address: namesrv } = await site.own(
        ApacheNamesrv.start({ version, folder: `${site.folder}/ns` }),
      );
      const old = new FailoverBroker(`${site.folder}/a`, namesrv, []);
      const slave = new FailoverBroker(`${site.folder}/b`, namesrv, [
        "brokerRole=SLAVE",
        "brokerId=1",
      ]);
      await site.own(Promise.resolve({ stop: () => old.kill() }));
      await site.own(Promise.resolve({ stop: () => slave.kill() }));
      await old.start();
      await slave.start();
      assertEquals((await old.send(50)).ok, 50);
      await inSync(old);
      await old.kill();
      // What was seen of the pair is lost: the name server alone has to tell.
      rmSync(`${old.folder}/config/haPeers.json`, { force: true });
      assertEquals((await slave.promote()).code, 0);
      await site.eventually(
        async () => await mastersOf(namesrv) === slave.address,
        "the promoted one in the route",
      );
      let isOver = false;
      const toOld = hammer(old.address, () => isOver);
      const toNew = hammer(slave.address, () => isOver);
      await old.start();
      assertEquals((await old.ha()).state, "diverged");
      // As long as a registration or two of both.
      for (let look = 0; look < 20; look++) {
        assertEquals(await mastersOf(namesrv), slave.address);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      isOver = true;
      const { ok, refused } = await toOld;
      assertEquals(ok, 0);
      assert(refused > 0);
      const sent = await toNew;
      assertEquals(sent.refused, 0);
      assertEquals(await slave.messageCount(), 50 + sent.ok);
      // Its good-bye takes nobody's place: 4.9 removes whoever has the id.
      await old.process!.stop();
      assertEquals(await mastersOf(namesrv), slave.address);
    });
  });
}

/** Whom the name server shows as id 0 of the test's topic. */
async function mastersOf(namesrv: string): Promise<string | undefined> {
  const client = await RawClient.open(namesrv);
  const { body, code } = await client.invoke(105, { topic: "T" });
  client.close();
  if (code !== 0) return undefined;
  const [broker] = decodeTopicRouteData(body).brokerDatas;
  return broker?.brokerAddrs.get(0);
}
