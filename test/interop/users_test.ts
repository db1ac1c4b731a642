/** Users and policies of 5.x: mqadmin and stock clients at our broker as at Apache's. */
import { assert, assertEquals } from "@std/assert";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { ApacheBroker } from "./apache_broker.ts";
import { follows } from "./ha_pair.ts";
import {
  type InteropSite,
  startNamesrv,
  withInteropSite,
} from "./interop_site.ts";
import { runDriver } from "./java.ts";
import { mqadmin } from "./mqadmin.ts";
import { comparison } from "./mqadmin_compare.ts";
import { OurBroker } from "./our_broker.ts";

const VERSION = "5.5.0";
const ROOT = { name: "root-key", secret: "root-secret" };
const AUTHENTICATION = "org.apache.rocketmq.auth.authentication.provider.";
const AUTHORIZATION = "org.apache.rocketmq.auth.authorization.provider.";
/** As Apache's documentation has them: both brokers take the same. */
const SETTINGS = {
  authenticationEnabled: "true",
  authenticationProvider: `${AUTHENTICATION}DefaultAuthenticationProvider`,
  authenticationMetadataProvider:
    `${AUTHENTICATION}LocalAuthenticationMetadataProvider`,
  authorizationEnabled: "true",
  authorizationProvider: `${AUTHORIZATION}DefaultAuthorizationProvider`,
  authorizationMetadataProvider:
    `${AUTHORIZATION}LocalAuthorizationMetadataProvider`,
  initAuthenticationUser: JSON.stringify({
    username: ROOT.name,
    password: ROOT.secret,
  }),
  innerClientAuthenticationCredentials: JSON.stringify({
    accessKey: "inner-key",
    secretKey: "inner-secret",
  }),
};

interface Cluster {
  readonly namesrv: string;
  readonly broker: string;
  readonly folder: string;
}

/** One broker of each kind, with a name server of its own, so that each is DefaultCluster. */
async function clusters(site: InteropSite): Promise<[Cluster, Cluster]> {
  const start = async (kind: "apache" | "ours"): Promise<Cluster> => {
    const folder = `${site.folder}/${kind}`;
    const namesrv = await startNamesrv(site);
    const options = { folder, namesrv, settings: SETTINGS };
    const broker = kind === "ours"
      ? await site.own(OurBroker.start(options))
      : await site.own(ApacheBroker.start({ ...options, version: VERSION }));
    await site.registered(namesrv, broker.address);
    return { namesrv, broker: broker.address, folder };
  };
  return await Promise.all([start("apache"), start("ours")]);
}

/** mqadmin as a user, whose name stands in its conf/tools.yml. */
async function administer(
  { folder }: Cluster,
  user: { name: string; secret: string },
  commands: string[][],
): Promise<string[]> {
  const home = `${folder}-${user.name}`;
  mkdirSync(`${home}/mqadmin/conf`, { recursive: true });
  writeFileSync(
    `${home}/mqadmin/conf/tools.yml`,
    `accessKey: ${user.name}\nsecretKey: ${user.secret}\n`,
  );
  return await mqadmin(VERSION, home, commands);
}

/** What the operator of a cluster does, right and wrong. */
function sequence({ broker, namesrv }: Cluster): string[][] {
  const b = ["-b", broker];
  const c = ["-n", namesrv, "-c", "DefaultCluster"];
  const user = (name: string, secret: string) => ["-u", name, "-p", secret];
  const acl = (
    subject: string,
    resource: string,
    actions: string,
  ) => ["-s", `User:${subject}`, "-r", resource, "-a", actions];
  return [
    ["createUser", ...b, ...user("client-key", "client-secret")],
    ["createUser", ...c, ...user("ops", "ops-secret"), "-t", "Super"],
    ["createUser", ...b, ...user("client-key", "again")],
    ["createUser", ...b, ...user("gone", "gone-secret"), "-t", "normal"],
    ["updateUser", ...b, "-u", "ops", "-t", "Normal"],
    ["updateUser", ...b, "-u", "gone", "-s", "disable"],
    ["updateUser", ...b, "-u", "nobody", "-p", "x"],
    ["getUser", ...b, "-u", "ops"],
    ["getUser", ...b, "-u", "nobody"],
    ["getUser", ...c, "-u", "client-key"],
    ["listUser", ...b],
    ["listUser", ...c, "-f", "o"],
    [
      "createAcl",
      ...b,
      ...acl("client-key", "Topic:Mine,Topic:m*", "Pub,Sub"),
      "-d",
      "Allow",
    ],
    [
      "createAcl",
      ...b,
      ...acl("client-key", "Group:mine,Group:acl-producers", "sub"),
      "-d",
      "allow",
      "-i",
      "127.0.0.0/8",
    ],
    [
      "createAcl",
      ...b,
      ...acl("client-key", "*", "All"),
      "-d",
      "Deny",
      "-i",
      "10.0.0.1,192.168.0.0/16",
    ],
    [
      "createAcl",
      ...b,
      ...acl("client-key", "Topic:Denied", "All"),
      "-d",
      "Deny",
    ],
    ["createAcl", ...b, ...acl("gone", "Cluster:*", "Get"), "-d", "Allow"],
    ["createAcl", ...b, ...acl("nobody", "Topic:x", "Pub"), "-d", "Allow"],
    ["createAcl", ...b, ...acl("gone", "Queue:x", "Pub"), "-d", "Allow"],
    ["createAcl", ...b, ...acl("gone", "Topic:x", "Eat"), "-d", "Allow"],
    ["createAcl", ...b, ...acl("gone", "Topic:x", "Any"), "-d", "Allow"],
    ["createAcl", ...b, ...acl("gone", "Topic:x", "Pub"), "-d", "Perhaps"],
    [
      "createAcl",
      ...b,
      ...acl("gone", "Topic:x", "Pub"),
      "-d",
      "Allow",
      "-i",
      "somewhere",
    ],
    [
      "updateAcl",
      ...b,
      ...acl("client-key", "Topic:m*", "Pub,Get"),
      "-d",
      "Allow",
    ],
    [
      "updateAcl",
      ...b,
      ...acl("client-key", "topic:New", "list"),
      "-d",
      "Deny",
    ],
    ["getAcl", ...b, "-s", "User:client-key"],
    ["getAcl", ...b, "-s", "User:ops"],
    ["getAcl", ...b, "-s", "User:nobody"],
    ["listAcl", ...b],
    ["listAcl", ...b, "-s", "gone"],
    ["listAcl", ...b, "-r", "Topic:M"],
    ["deleteAcl", ...b, "-s", "User:client-key", "-r", "Topic:New"],
    ["deleteAcl", ...b, "-s", "User:client-key", "-r", "*"],
    ["deleteAcl", ...b, "-s", "User:ops"],
    ["deleteAcl", ...b, "-s", "User:nobody"],
    ["deleteUser", ...b, "-u", "gone"],
    ["deleteUser", ...b, "-u", "nobody"],
    ["listAcl", ...c],
    ["listUser", ...b],
    ...["Mine", "Other", "Denied"].map((it) => ["updateTopic", ...c, "-t", it]),
  ];
}

/** Outputs without what differs on purpose: passwords, and what to do behind a refusal. */
function shownBy(
  outputs: readonly string[],
  commands: readonly string[][],
): [string[], string][] {
  const secrets = /sealed:[\w+/=]+|\b(?:client|gone|inner|ops|root)-secret\b/g;
  const hints =
    /(DESC: The (?:resource is null|actions is empty|decision is null or illegal|source ip is invalid)\.) .*/g;
  return outputs.map((it, at) => [
    commands[at]!.map((word) => word.replace(secrets, "PASSWORD")),
    it.replace(secrets, "PASSWORD").replace(hints, "$1"),
  ]);
}

test("users and policies of 5.5.0: mqadmin prints the same as of Apache's broker, and clients may the same", async () => {
  await withInteropSite(async (site) => {
    const both = await clusters(site);
    const printed: string[][] = [];
    for (const it of both) {
      printed.push(await administer(it, ROOT, sequence(it)));
    }
    const [apache, ours] = printed.map((it, at) =>
      shownBy(it, sequence(both[at]!))
    );
    assertEquals(comparison(apache!, ours!), "");
    // Apache's shows them.
    const [theirs, mine] = printed.map((it) => it.join("\n"));
    assert(theirs!.includes("inner-secret") && mine!.includes("sealed:"));
    for (const secret of ["client-secret", "inner-secret", "ops-secret"]) {
      assert(!mine!.includes(secret), mine);
    }
    const [atApache, atOurs] = await Promise.all(
      both.map((it) =>
        runDriver(VERSION, ["acl", `namesrv=${it.namesrv}`], it.folder)
      ),
    );
    assertEquals(atOurs!.result, atApache!.result, atOurs!.output);
    assertEquals(atOurs!.result["received"], 5, atOurs!.output);
    assertEquals(atOurs!.result["forbidden"], 16, atOurs!.output);
    await copies(site, both);
    await slaveFollows(site, both[0]!);
  });
});

/** Our slave signs what it asks an Apache master, which refuses whoever does not. */
async function slaveFollows(
  site: InteropSite,
  { namesrv }: Cluster,
): Promise<void> {
  const slave = await site.own(OurBroker.start({
    folder: `${site.folder}/slave`,
    namesrv,
    role: "SLAVE",
    settings: SETTINGS,
  }));
  await follows(site, slave);
  await site.eventually(async () => {
    const answer = await fetch(`${slave.admin}/admin/topics/Mine`);
    return answer.ok;
  }, "the master's topics at the slave");
}

/** From Apache's broker to ours, and from ours to another one of ours: the password goes along. */
async function copies(
  site: InteropSite,
  [apache, ours]: [Cluster, Cluster],
): Promise<void> {
  const folder = `${site.folder}/second`;
  const second = await site.own(
    OurBroker.start({ folder, namesrv: "", settings: SETTINGS }),
  );
  const traveller = { name: "traveller", secret: "traveller-secret" };
  const subject = ["-s", "User:traveller"];
  const copy = (from: string, to: string) => [
    ["copyUser", "-f", from, "-t", to, "-u", traveller.name],
    ["copyAcl", "-f", from, "-t", to, ...subject],
  ];
  const outputs = await administer(ours, ROOT, [
    ["createUser", "-b", apache.broker, "-u", traveller.name]
      .concat(["-p", traveller.secret]),
    ["createAcl", "-b", apache.broker, ...subject, "-r", "Cluster:*"]
      .concat(["-a", "Get", "-d", "Allow"]),
    ...copy(apache.broker, ours.broker),
    ...copy(ours.broker, second.address),
    // Once more: what is there is changed.
    ...copy(ours.broker, second.address),
    ["getAcl", "-b", second.address, ...subject],
  ]);
  const text = outputs.join("\n");
  assertEquals(text.match(/ success\./g)?.length, 8, text);
  assert(outputs.at(-1)!.includes("Cluster:*"), text);
  const at = { ...ours, broker: second.address, folder };
  const [users, refused] = await administer(at, traveller, [
    ["listUser", "-b", second.address],
    ["deleteUser", "-b", second.address, "-u", traveller.name],
  ]);
  assert(users!.includes("traveller") && users!.includes("sealed:"), users);
  assert(refused!.includes("no matched policies"), refused);
}
