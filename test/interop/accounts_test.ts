/** Accounts of 4.9 by mqadmin: the same commands at Apache's broker and at ours. */
import { assert, assertEquals } from "@std/assert";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { ApacheBroker } from "./apache_broker.ts";
import {
  type InteropSite,
  startNamesrv,
  withInteropSite,
} from "./interop_site.ts";
import { mqadmin } from "./mqadmin.ts";
import { comparison } from "./mqadmin_compare.ts";
import { OurBroker } from "./our_broker.ts";

const VERSION = "4.9.7";
const ACL = `
accounts:
  - accessKey: admin-key
    secretKey: admin-secret
    admin: true
`;
const TEAM = `
accounts:
  - accessKey: team-key
    secretKey: team-secret
    groupPerms:
      - team=SUB
`;

/** A broker with plain_acl.yml and acl/team.yml in `conf`. */
interface Cluster {
  readonly namesrv: string;
  readonly broker: string;
  readonly folder: string;
  readonly conf: string;
}

async function cluster(
  site: InteropSite,
  kind: "apache" | "ours",
): Promise<Cluster> {
  const namesrv = await startNamesrv(site);
  const folder = `${site.folder}/${kind}`;
  const conf = `${folder}/conf`;
  mkdirSync(`${conf}/acl`, { recursive: true });
  writeFileSync(`${conf}/plain_acl.yml`, ACL);
  writeFileSync(`${conf}/acl/team.yml`, TEAM);
  const options = { folder, namesrv, settings: { aclEnable: "true" } };
  const broker = kind === "apache"
    ? await site.own(ApacheBroker.start({ ...options, version: VERSION }))
    : await site.own(OurBroker.start({
      ...options,
      settings: {
        ...options.settings,
        plainAclFile: `${conf}/plain_acl.yml`,
        accessKey: "admin-key",
        secretKey: "admin-secret",
      },
    }));
  await site.registered(namesrv, broker.address);
  return { namesrv, broker: broker.address, folder, conf };
}

async function administer(
  { folder }: Cluster,
  account: string,
  commands: string[][],
): Promise<string[]> {
  const home = `${folder}-${account}`;
  mkdirSync(`${home}/mqadmin/conf`, { recursive: true });
  writeFileSync(
    `${home}/mqadmin/conf/tools.yml`,
    `accessKey: ${account}-key\nsecretKey: ${account}-secret\n`,
  );
  return await mqadmin(VERSION, home, commands);
}

function sequence({ broker, conf, namesrv }: Cluster): string[][] {
  const b = ["-b", broker];
  const c = ["-n", namesrv, "-c", "DefaultCluster"];
  const account = (
    name: string,
  ) => ["-a", `${name}-key`, "-s", `${name}-secret`];
  return [
    [
      "updateAclConfig",
      ...b,
      ...account("client"),
      "-t",
      "Mine=PUB|SUB,Denied=DENY",
    ]
      .concat(["-g", "mine=SUB", "-i", "DENY", "-u", "SUB", "-w", "10.0.0.*"]),
    ["updateAclConfig", ...c, ...account("second"), "-m", "true"],
    ["updateAclConfig", ...b, ...account("client"), "-t", "Mine=PUB"],
    ["updateAclConfig", ...b, ...account("team"), "-g", "team=DENY"],
    ["updateAclConfig", ...b, "-a", "short", "-s", "short"],
    ["updateAclConfig", ...b, ...account("wrong"), "-t", "Mine"],
    ["updateAclConfig", ...b, ...account("wrong"), "-t", "Mine=EAT"],
    ["deleteAclConfig", ...b, "-a", "second-key"],
    ["deleteAccessConfig", ...b, "-a", "nobody-key"],
    ["updateGlobalWhiteAddr", ...b, "-g", "10.1.1.1,10.2.*.*"],
    [
      "updateGlobalWhiteAddr",
      ...b,
      "-g",
      "10.3.3.3",
      "-p",
      `${conf}/acl/team.yml`,
    ],
    ["updateGlobalWhiteAddr", ...b, "-g", "10.3.3.3", "-p", `${conf}/none.yml`],
    ["clusterAclConfigVersion", ...c],
    ["getAclConfig", ...b],
    ["getAccessConfigSubCommand", ...c],
  ];
}

/** Outputs without secrets: Apache's shows them. */
function shownBy(
  outputs: readonly string[],
  commands: readonly string[][],
): [string[], string][] {
  const secrets = /\b(?:admin|client|second|team|wrong)-secret\b|\*\*\*/g;
  return outputs.map((it, at) => [
    commands[at]!.map((word) => word.replace(secrets, "SECRET")),
    it.replace(secrets, "SECRET"),
  ]);
}

const CAUSE =
  "Caused by: org.apache.rocketmq.client.exception.MQClientException: CODE:";
const WHITE = "DESC: The globalWhiteAddresses[HOST] has been updated failed.";
/** Apache's tells the secret that was too short; ours which file it does not know. */
const DIFFERENCES = `updateAclConfig -b ADDRESS -a short -s short
- ${CAUSE} 209 DESC: The accessKey=short and secretKey=short cannot be null and length should longer than 6
+ ${CAUSE} 209 DESC: The accessKey=short and secretKey=SECRET cannot be null and length should longer than 6

updateGlobalWhiteAddr -b ADDRESS -g HOST -p PATH (2)
- ${CAUSE} 211 ${WHITE}
+ ${CAUSE} 211 ${WHITE} PATH is none of the access control files`;

test("accounts of 4.9.7: mqadmin prints the same as of Apache's broker, and they hold", async () => {
  await withInteropSite(async (site) => {
    const both = await Promise.all([
      cluster(site, "apache"),
      cluster(site, "ours"),
    ]);
    const printed: string[][] = [];
    for (const it of both) {
      printed.push(await administer(it, "admin", sequence(it)));
    }
    const [apache, ours] = printed.map((it, at) =>
      shownBy(it, sequence(both[at]!))
    );
    assertEquals(comparison(apache!, ours!), DIFFERENCES);
    const mine = printed[1]!.slice(-2).join("\n");
    assert(mine.includes("client-key") && !mine.includes("client-secret"));
    const { broker, conf } = both[1]!;
    const text = readFileSync(`${conf}/plain_acl.yml`, "utf8");
    assert(text.includes("client-secret"), text);
    assert(readFileSync(`${conf}/acl/team.yml`, "utf8").includes("team=DENY"));
    const [status, refused] = await administer(both[1]!, "client", [
      ["brokerStatus", "-b", broker],
      ["deleteAclConfig", "-b", broker, "-a", "admin-key"],
    ]);
    assert(status!.includes("brokerVersionDesc"), status);
    assert(refused!.includes("Need admin permission"), refused);
  });
});
