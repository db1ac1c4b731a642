/** Stock clients and mqadmin against access control. */
import { assert, assertEquals } from "@std/assert";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { ApacheBroker } from "./apache_broker.ts";
import { follows } from "./ha_pair.ts";
import { startNamesrv, withInteropSite } from "./interop_site.ts";
import { OurBroker } from "./our_broker.ts";
import { type Site, withSite } from "../support/site.ts";
import { runDriver } from "./java.ts";
import { mqadmin } from "./mqadmin.ts";
import { APACHE_SERVER_VERSIONS, driverVersionOf } from "./versions.ts";

const ACL = `
accounts:
  - accessKey: client-key
    secretKey: client-secret
    topicPerms: [Mine=PUB|SUB, Denied=DENY]
    groupPerms: [mine=SUB, closed=DENY]
  - accessKey: admin-key
    secretKey: admin-secret
    admin: true
  - accessKey: white-key
    secretKey: white-secret
    whiteRemoteAddress: 127.0.0.*
`;
/** NO_PERMISSION. */
const NO = 16;

for (const version of APACHE_SERVER_VERSIONS) {
  const client = driverVersionOf(version);
  test(`Java ${client} and mqadmin ${version} are let do what plain_acl.yml says`, async () => {
    await withTempDirectory(async (folder) => {
      writeFileSync(`${folder}/plain_acl.yml`, ACL);
      await withSite((site) => tryAll(version, client, site), [
        "--set",
        "aclEnable=true",
        "--set",
        `plainAclFile=${folder}/plain_acl.yml`,
      ]);
    });
  });
}

async function tryAll(
  version: string,
  client: string,
  site: Site,
): Promise<void> {
  const at = ["-n", site.namesrv, "-b", site.broker];
  const make = (topic: string) => ["updateTopic", ...at, "-t", topic];
  const [refused] = await administer(version, site, "stranger", null, [
    make("Mine"),
  ]);
  assert(refused!.includes("No accessKey is configured"), refused!);
  const [needsAdmin] = await administer(version, site, "client", "client", [
    make("Mine"),
  ]);
  assert(needsAdmin!.includes("Need admin permission"), needsAdmin!);
  const outputs = await administer(version, site, "admin", "admin", [
    make("Mine"),
    make("Other"),
    make("Denied"),
    ["brokerStatus", ...at],
    ["getBrokerConfig", ...at],
  ]);
  for (const made of outputs.slice(0, 3)) {
    assert(made.includes("create topic to") && made.includes("success"), made);
  }
  assert(outputs[3]!.includes("brokerVersionDesc"), outputs[3]!);
  assert(outputs[4]!.includes("aclEnable"), outputs[4]!);
  const done = await runDriver(
    client,
    ["acl", `namesrv=${site.namesrv}`],
    site.folder,
  );
  assertEquals(done.result, {
    unsigned: NO,
    wrong: NO,
    unknown: NO,
    forbidden: NO,
    denied: NO,
    deniedBatch: NO,
    allowed: 0,
    batch: 0,
    vip: 0,
    vipWrong: NO,
    white: 0,
    received: 6,
    closed: 0,
    stranger: 0,
    faults: 0,
  }, done.output);
}

/** Runs mqadmin as an account, whose name stands in its conf/tools.yml. */
async function administer(
  version: string,
  site: Site,
  name: string,
  account: string | null,
  commands: string[][],
): Promise<string[]> {
  const folder = `${site.folder}/${name}`;
  mkdirSync(`${folder}/mqadmin/conf`, { recursive: true });
  if (account !== null) {
    writeFileSync(
      `${folder}/mqadmin/conf/tools.yml`,
      `accessKey: ${account}-key\nsecretKey: ${account}-secret\n`,
    );
  }
  return await mqadmin(version, folder, commands);
}

/** 5.x has no such access control any more. */
test("Apache 4.9.7 takes the signatures of our tools, and of our slave", async () => {
  await withInteropSite(async (site) => {
    const namesrv = await startNamesrv(site);
    mkdirSync(`${site.folder}/master/conf`, { recursive: true });
    writeFileSync(`${site.folder}/master/conf/plain_acl.yml`, ACL);
    const master = await site.own(ApacheBroker.start({
      version: "4.9.7",
      folder: `${site.folder}/master`,
      namesrv,
      settings: { aclEnable: "true" },
    }));
    await site.registered(namesrv, master.address);
    const tool = (account: string, ...args: string[]) =>
      runPocketMQ([...args, "-n", namesrv], {
        env: account === "" ? {} : {
          POCKETMQ_ACCESS_KEY: `${account}-key`,
          POCKETMQ_SECRET_KEY: `${account}-secret`,
        },
      });
    const make = ["topic", "create", "Mine"];
    const unsigned = await tool("", ...make);
    assert(unsigned.stderr.includes("No accessKey"), unsigned.stderr);
    const made = await tool("admin", ...make);
    assertEquals(made.code, 0, made.stderr);
    await site.eventually(
      async () => (await tool("", "topic", "route", "Mine")).code === 0,
      "a route of Mine",
    );
    const sent = await tool("client", "produce", "Mine", "größe", "--key", "k");
    assert(sent.stdout.includes("SEND_OK"), sent.stdout + sent.stderr);
    const read = ["consume", "Mine", "--group", "mine", "--from", "first"];
    const got = await tool("client", ...read, "--count", "1");
    assertEquals(got.stdout.trim(), "größe", got.stderr);
    const found = await tool(
      "client",
      "message",
      "query",
      "Mine",
      "--key",
      "k",
    );
    assertEquals(found.code, 0, found.stderr);
    const slave = await site.own(OurBroker.start({
      folder: `${site.folder}/slave`,
      namesrv,
      role: "SLAVE",
      settings: { accessKey: "admin-key", secretKey: "admin-secret" },
    }));
    await follows(site, slave);
    await site.eventually(async () => {
      const answer = await fetch(`${slave.admin}/admin/topics/Mine`);
      return answer.ok;
    }, "the master's topics at the slave");
  });
});
