/** A change of role while something is wrong: a damaged haRole.json, a change under way elsewhere. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/eventually.ts";
import {
  changeRole,
  FailoverBroker,
  inSync,
  isRemembered,
  withNamesrv,
} from "../support/failover_site.ts";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import { TcpLink } from "../support/tcp_link.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const PATIENCE = { timeoutMs: 30_000 };

test("a demoted broker whose haRole.json nobody can read stays a slave, and says why in one sentence", () =>
  withTempDirectory((folder) =>
    withNamesrv(folder, async (namesrv) => {
      const a = new FailoverBroker(`${folder}/a`, namesrv, []);
      const b = new FailoverBroker(`${folder}/b`, namesrv, [
        "brokerRole=SLAVE",
        "brokerId=1",
      ]);
      try {
        await a.start();
        await b.start();
        assertEquals((await a.send(10)).ok, 10);
        await inSync(a);
        await a.kill();
        assertEquals((await changeRole(b, { role: "MASTER" })).status, 200);
        await a.start();
        assertEquals((await changeRole(a, { role: "SLAVE" })).status, 200);
        await inSync(b);
        await a.kill();
        // Both copies, and whoever could tell it.
        const path = `${a.folder}/config/haRole.json`;
        writeFileSync(path, readFileSync(path, "utf8").slice(0, 20));
        rmSync(`${path}.bak`);
        rmSync(`${a.folder}/config/haPeers.json`);
        await b.kill();
        await a.start();
        const { brokerId, role, roleFrom } = await a.ha();
        assertEquals([role, brokerId, roleFrom], ["SLAVE", 1, "haRole.json"]);
        assertEquals((await a.send(3)).refused, [14, 14, 14]);
        const sentences = a.process!.stderr.split("\n").filter((it) =>
          it.includes('"error"') && it.includes("haRole.json")
        );
        assertEquals(sentences.length, 1, a.process!.stderr);
        assert(sentences[0]!.includes("`pocketmq ha promote`"), sentences[0]);
        // The promoted one is back: it is followed, and nothing is missing.
        await b.start();
        await inSync(b);
        assertEquals((await b.send(5)).ok, 5);
        await inSync(b);
        assertEquals([await a.messageCount(), await b.messageCount()], [
          15,
          15,
        ]);
        await a.kill();
        await a.start();
        assertEquals((await a.ha()).role, "SLAVE");
      } finally {
        await a.kill();
        await b.kill();
      }
    })
  ));

test("while a master is being demoted its slave says so, and is not promoted", () =>
  withTempDirectory(async (folder) => {
    const a = new FailoverBroker(`${folder}/a`, "", []);
    let link: TcpLink | null = null;
    let slave: FailoverBroker | null = null;
    try {
      await a.start();
      link = await TcpLink.open(a.haAddress);
      const b = slave = new FailoverBroker(`${folder}/b`, "", [
        "brokerRole=SLAVE",
        "brokerId=1",
        `haMasterAddress=${link.address}`,
        `masterAddress=${a.address}`,
      ]);
      await b.start();
      assertEquals((await a.send(5)).ok, 5);
      await inSync(a);
      const reasonAt = async (it: FailoverBroker) =>
        (await it.ha()).roleChangeReason;
      assertEquals([await reasonAt(a), await reasonAt(b)], [null, null]);
      await eventually(() => isRemembered(a, b), PATIENCE);
      // It lives and is not connected: the demotion waits for it, and then is refused.
      link.blackhole();
      link.cut();
      const masterAddress = b.haAddress;
      const demotion = changeRole(a, { role: "SLAVE", masterAddress });
      const sentence =
        `Broker ${a.address} is being demoted to a slave: wait until that has ended`;
      await eventually(async () => await reasonAt(b) === sentence, PATIENCE);
      assertEquals(
        await reasonAt(a),
        "This broker is being demoted to a slave",
      );
      const admin = `http://${b.process!.address("admin")}`;
      const status = await runPocketMQ(["ha", "status", "--admin", admin]);
      assert(status.stdout.includes(sentence), status.stdout);
      // A second change here is refused at once; a promotion there waits for the end of this one.
      const second = await changeRole(a, { role: "SLAVE", masterAddress });
      assertEquals(second.status, 409);
      assert(second.detail.includes("is on its way"), second.detail);
      const promotion = changeRole(b, { role: "MASTER" });
      const refused = await demotion;
      assertEquals(refused.status, 409);
      assert(refused.detail.includes("No slave is in sync"), refused.detail);
      const { detail, status: code } = await promotion;
      assertEquals(code, 409);
      assert(detail.includes(`master at ${a.address} answers`), detail);
      assertEquals([await reasonAt(a), await reasonAt(b)], [null, null]);
    } finally {
      await link?.close();
      await a.kill();
      await slave?.kill();
    }
  }));
