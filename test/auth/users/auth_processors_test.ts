/** Users and policies over the wire (3001 to 3010), on disk, and on the way to a slave (31005). */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { withAccounts } from "../../../src/auth/users/initial_users.ts";
import { AuthError } from "../../../src/auth/users/auth_error.ts";
import { parsePlainAcl } from "../../../src/auth/plain_acl.ts";
import type { ExtFields } from "../../../src/protocol/remoting_command.ts";
import { withTempDirectory } from "../../support/temp_directory.ts";
import { entry, SUPER, UserSite } from "./user_site.ts";

const SUBJECT = { subject: "User:alice" };
const policies = (...entries: unknown[]) => ({
  subject: "User:alice",
  policies: [{ policyType: "Custom", entries }],
});

/** Code, fields, body; answer's code and the start of its remark. Apache's codes and sentences. */
const REFUSALS: [number, ExtFields, unknown, number, string][] = [
  [3001, {}, { password: "p" }, 29, "The username is blank"],
  [3001, { username: " " }, { password: "p" }, 16, "username can not be blank"],
  [3001, { username: "u" }, {}, 16, "password can not be blank"],
  [3001, { username: "u" }, null, 1, "Cannot read UserInfo"],
  [3001, { username: "u" }, [], 1, "Cannot read UserInfo"],
  [3001, { username: "alice" }, { password: "p" }, 16, "The user is existed"],
  [
    3001,
    { username: "x".repeat(300) },
    { password: "p" },
    16,
    "username has 25",
  ],
  [3001, { username: "u" }, { password: "p", userType: "King" }, 29, "Cannot"],
  [3002, {}, {}, 29, "The username is blank"],
  [3002, { username: "nobody" }, {}, 16, "The user is not exist"],
  [3002, { username: "alice" }, { userStatus: "x" }, 29, "Cannot use userStat"],
  [3003, {}, null, 16, "username can not be blank"],
  [3004, {}, null, 29, "The username is blank"],
  [3006, SUBJECT, null, 1, "Cannot read AclInfo"],
  [3006, SUBJECT, {}, 1, "The body of acl is null"],
  [3006, SUBJECT, policies(), 16, "The policy entries is empty."],
  [
    3006,
    { subject: "alice" },
    {
      policies: policies(entry("*", "Pub")).policies,
    },
    29,
    "Cannot use subject alice: give User: and a name",
  ],
  [
    3006,
    {},
    { ...policies(entry("*", "Pub")), subject: "User:nobody" },
    16,
    "The subject of User:nobody is not exist.",
  ],
  [
    3006,
    SUBJECT,
    policies(entry("Queue:x", "Pub")),
    16,
    "The resource is null",
  ],
  [3006, SUBJECT, policies(entry("*", "Eat")), 16, "The actions is empty."],
  [
    3006,
    SUBJECT,
    policies(entry("*", "Any")),
    16,
    "The actions can not be Any",
  ],
  [
    3006,
    SUBJECT,
    policies(entry("*", "Pub", "Perhaps")),
    16,
    "The decision is",
  ],
  [
    3006,
    SUBJECT,
    policies(entry("*", "Pub", "Allow", [""])),
    16,
    "The source i",
  ],
  [
    3006,
    SUBJECT,
    policies(entry("*", "Pub", "Allow", ["x"])),
    16,
    "The source ip is invalid. x is none",
  ],
  [3008, { subject: "User:nobody" }, null, 16, "The subject is not exist."],
  [3008, SUBJECT, null, 16, "The acl is not exist."],
  [
    3008,
    { ...SUBJECT, resource: "Topci:T" },
    null,
    29,
    "Cannot use resource T",
  ],
  [3009, { subject: "User:nobody" }, null, 16, "The subject is not exist."],
  [3009, {}, null, 29, "Cannot use subject"],
];

test("users and policies that cannot be are refused by Apache's codes, and nothing changes", async () => {
  await withTempDirectory(async (folder) => {
    const site = await new UserSite(folder).open();
    await site.user("alice");
    const { dataVersion } = site.store;
    for (const [code, fields, body, answer, start] of REFUSALS) {
      const { code: answered, remark } = await site.signed(code, fields, body);
      const what = `${code} ${JSON.stringify([fields, body])}: ${remark}`;
      assertEquals(answered, answer, what);
      assert(remark.startsWith(start), what);
    }
    assertEquals(site.store.dataVersion, dataVersion);
  });
});

test("what was answered is there after a restart, as mqadmin asks for it", async () => {
  await withTempDirectory(async (folder) => {
    const first = await new UserSite(folder).open();
    await first.user("alice", [
      entry("Topic:T", "pub,SUB", "allow", ["10.0.0.0/8"]),
      entry("Group:*", "Sub"),
    ]);
    await first.user("bob");
    // The same resource again takes the place of the entry, others stay.
    await first.allow("alice", [entry("topic:T", "Get", "Deny")]);
    const site = new UserSite(folder);
    const acl = {
      subject: "User:alice",
      policies: [{
        policyType: "Custom",
        entries: [
          { resource: "Topic:T", actions: ["Get"], decision: "Deny" },
          { resource: "Group:*", actions: ["Sub"], decision: "Allow" },
        ],
      }],
    };
    assertEquals((await site.signed(3009, SUBJECT)).body, acl);
    const list = (fields: ExtFields) => site.signed(3010, fields);
    assertEquals((await list({})).body, [acl]);
    assertEquals((await list({ subjectFilter: "bob" })).body, null);
    const [found] = (await list({ resourceFilter: "Group" })).body as [
      typeof acl,
    ];
    assertEquals(found.policies[0]!.entries.length, 1);
    const users = (await site.signed(3005, {})).body as {
      username: string;
    }[];
    assertEquals(users.map((it) => it.username), ["alice", "bob", "root-user"]);
    const bob = (await site.signed(3004, { username: "bob" })).body;
    const { password, ...rest } = bob as Record<string, string>;
    assertEquals(rest, {
      username: "bob",
      userType: "Normal",
      userStatus: "enable",
    });
    assert(password!.startsWith("sealed:"));
    assertEquals((await site.signed(3004, { username: "no" })).body, null);
    const gone = { ...SUBJECT, resource: "Topic:T" };
    assertEquals((await site.signed(3008, gone)).code, 0);
    assertEquals((await site.signed(3008, SUBJECT)).code, 0);
    assertEquals((await site.signed(3009, SUBJECT)).body, null);
  });
});

test("changes that come together all hold", async () => {
  await withTempDirectory(async (folder) => {
    const site = await new UserSite(folder).open();
    const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
    await Promise.all(names.map((it) => site.user(it)));
    const again = new UserSite(folder);
    assertEquals(again.store.table.users.size, 21);
    assertEquals(again.store.dataVersion.counter, 21);
  });
});

test("a super user is made and changed by super users only", async () => {
  await withTempDirectory(async (folder) => {
    const site = await new UserSite(folder).open();
    const ops = await site.user("ops", [entry("Cluster:*", "All")]);
    const asOps = (code: number, username: string, body: unknown = null) =>
      site.signed(code, { username }, body, ops);
    const king = { password: "p", userType: "Super" };
    const attempts = [
      await asOps(3001, "king", king),
      await asOps(3002, "ops", { userType: "super" }),
      await asOps(3002, SUPER.username, { password: "mine" }),
      await asOps(3003, SUPER.username),
    ];
    assertEquals(attempts.map((it) => [it.code, it.remark]), [
      [1, "The super user can only be create by super user"],
      [1, "The super user can only be update by super user"],
      [16, "The super user can only be update by super user"],
      [16, "The super user can only be update by super user"],
    ]);
    assertEquals((await asOps(3001, "plain", { password: "p" })).code, 0);
    assertEquals((await site.signed(3001, { username: "king" }, king)).code, 0);
    // Whoever may everything but is no super user does not get the table either.
    assertEquals((await site.signed(31_005, {}, null, ops)).code, 16);
  });
});

test("a password goes from broker to broker sealed, as copyUser sends it", async () => {
  await withTempDirectory(async (folder) => {
    const source = await new UserSite(`${folder}/source`).open();
    const target = await new UserSite(`${folder}/target`).open();
    const other = await new UserSite(`${folder}/other`, {}, "another").open();
    const silent = await new UserSite(`${folder}/silent`, {}, null).open();
    const alice = await source.user("alice", [entry("Topic:T", "Pub")]);
    const username = { username: "alice" };
    const { body } = await source.signed(3004, username);
    assertEquals((await target.signed(3001, username, body)).code, 0);
    assertEquals(
      target.store.table.users.get("alice")?.password,
      alice.password,
    );
    const elsewhere = await other.signed(3001, username, body);
    assertEquals(elsewhere.code, 29);
    assert(elsewhere.remark.includes("innerClientAuthenticationCredentials"));
    // Sealed for one name, it is none for another.
    const mallory = { username: "mallory" };
    assertEquals((await target.signed(3001, mallory, body)).code, 29);
    // Without a secret to seal with, no password goes out at all.
    const [shown] = (await silent.signed(3005, {})).body as [object];
    assertEquals(Object.keys(shown), ["userStatus", "userType", "username"]);
    const refused = await silent.signed(31_005, {});
    assertEquals(refused.code, 16);
    assert(refused.remark.includes("innerClientAuthenticationCredentials"));
  });
});

test("a slave takes its master's users and policies as a whole, or not at all", async () => {
  await withTempDirectory(async (folder) => {
    const master = await new UserSite(`${folder}/master`).open();
    const slave = await new UserSite(`${folder}/slave`).open();
    slave.isSlave = true;
    await master.user("alice", [entry("Topic:T", "Pub")]);
    await slave.user("old");
    const { body } = await master.signed(31_005, {});
    const text = JSON.stringify(body);
    assert(!text.includes("alice-password") && !text.includes(SUPER.password));
    await slave.store.replaceAll(text);
    assertEquals(slave.store.dataVersion, master.store.dataVersion);
    const again = new UserSite(`${folder}/slave`);
    assertEquals([...again.store.table.users.keys()], ["root-user", "alice"]);
    const alice = { username: "alice", password: "alice-password" };
    assertEquals((await again.signed(310, { b: "T" }, null, alice)).code, 0);
    const stranger = await new UserSite(`${folder}/no`, {}, "another").open();
    await assertRejects(() => stranger.store.replaceAll(text), AuthError);
    await assertRejects(() => slave.store.replaceAll("{"), Error, "no JSON");
    assertEquals(stranger.store.table.users.size, 1);
    // mqadmin -c sends a change to the slave too, before or after it came from the master.
    const same = await slave.signed(3001, { username: "alice" }, {
      password: alice.password,
    });
    assertEquals(same.code, 0);
    assert(same.remark.startsWith("This broker is a slave"), same.remark);
    const other = await slave.signed(3001, { username: "alice" }, {
      password: "another",
    });
    assertEquals(other.remark, "The user is existed");
  });
});

test("a file that nobody can read lets nobody in but those of the configuration", async () => {
  await withTempDirectory(async (folder) => {
    mkdirSync(`${folder}/config`, { recursive: true });
    writeFileSync(
      `${folder}/config/auth.json`,
      '{"users":[{"username":"a","password":"secret-a","userType":"King"}]}',
    );
    const site = new UserSite(folder);
    assertEquals(site.store.table.users.size, 0);
    await site.open();
    assertEquals([...site.store.table.users.keys()], [SUPER.username]);
    assert(!site.logger.lines.join("\n").includes("secret-a"));
  });
});

test("accounts of plain_acl.yml become users with the same permissions", async () => {
  await withTempDirectory(async (folder) => {
    const site = await new UserSite(folder).open();
    const { accounts } = parsePlainAcl(`
accounts:
  - accessKey: root-user
    secretKey: not-its-password
  - accessKey: admin-key
    secretKey: admin-secret
    admin: true
  - accessKey: client-key
    secretKey: client-secret
    defaultTopicPerm: PUB
    topicPerms: [Mine=PUB|SUB, Never=DENY]
    groupPerms: [mine=SUB]
`);
    const migrate = () =>
      site.store.change((it) => withAccounts(it, accounts.values()));
    await migrate();
    const { counter } = site.store.dataVersion;
    await migrate();
    assertEquals(site.store.dataVersion.counter, counter);
    const client = { username: "client-key", password: "client-secret" };
    const admin = { username: "admin-key", password: "admin-secret" };
    const code = async (fields: ExtFields, code = 310, who = client) =>
      (await site.signed(code, fields, null, who)).code;
    assertEquals(await code({ b: "Mine" }), 0);
    assertEquals(await code({ b: "Any" }), 0);
    assertEquals(await code({ b: "Never" }), 16);
    assertEquals(await code({ topic: "Mine", consumerGroup: "mine" }, 11), 0);
    assertEquals(await code({ topic: "Mine", consumerGroup: "no" }, 11), 16);
    assertEquals(await code({}, 25, admin), 0);
    assertEquals(await code({}, 25, SUPER), 0);
  });
});
