/** Users and policies of a running pair: every port, our tools, a slave, kill -9. */
import { assert, assertEquals } from "@std/assert";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { encodeJson } from "../../src/protocol/body/json_fields.ts";
import { PocketmqRequestCode } from "../../src/protocol/pocketmq_request_code.ts";
import { createRequest } from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { signRequest } from "../../src/protocol/request_signature.ts";
import { eventually } from "../support/eventually.ts";
import { PocketMQProcess, runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const SECRETS = ["root-secret", "inner-secret", "app-secret", "veteran-secret"];
const CONF = `authenticationEnabled=true
authorizationEnabled=true
initAuthenticationUser={"username":"root","password":"root-secret"}
innerClientAuthenticationCredentials={"accessKey":"inner","secretKey":"inner-secret"}
`;
/** Of a broker that had 4.x's access control before. */
const ACL = `
accounts:
  - accessKey: veteran
    secretKey: veteran-secret
    topicPerms: [Mine=PUB]
`;
const PATIENCE = { timeoutMs: 30_000 };

/** Brokers that end with the test, whatever happens. */
async function withServers(
  run: (
    folder: string,
    start: (...args: string[]) => Promise<PocketMQProcess>,
  ) => Promise<void>,
): Promise<void> {
  await withTempDirectory(async (folder) => {
    const started: PocketMQProcess[] = [];
    writeFileSync(`${folder}/broker.conf`, CONF);
    try {
      await run(folder, async (...args) => {
        const server = await PocketMQProcess.start(args);
        started.push(server);
        return server;
      });
    } finally {
      await Promise.all(started.map((it) => it.stop("SIGKILL")));
    }
  });
}

/** Code and body of the answer to a request that a user signs. */
async function signed(
  client: RawClient,
  user: string,
  code: number,
  fields: Record<string, string> = {},
  body: unknown = null,
) {
  const bytes = body === null ? undefined : encodeJson(body);
  const request = createRequest(code, { ...fields }, bytes);
  signRequest(request, { accessKey: user, secretKey: `${user}-secret` });
  return await client.invoke(code, request.extFields, bytes);
}

/** Makes user `app`, who may send to and read Mine as group `mine`. */
async function makeApp(client: RawClient): Promise<void> {
  const subject = "User:app";
  const entry = (resource: string, actions: string[]) => ({
    resource,
    actions,
    decision: "Allow",
  });
  const made = [
    await signed(client, "root", 3001, { username: "app" }, {
      password: "app-secret",
    }),
    await signed(client, "root", 3006, { subject }, {
      subject,
      policies: [{
        entries: [
          entry("Topic:Mine", ["Pub", "Sub", "Get"]),
          entry("Group:mine", ["Sub"]),
        ],
      }],
    }),
  ];
  assertEquals(made.map((it) => [it.code, it.remark]), [[0, null], [0, null]]);
}

test("with authenticationEnabled every port asks who comes, users live through kill -9, and nothing shows a secret", async () => {
  await withServers(async (folder, start) => {
    writeFileSync(`${folder}/plain_acl.yml`, ACL);
    writeFileSync(
      `${folder}/broker.conf`,
      `${CONF}migrateAuthFromV1Enabled=true\nplainAclFile=${folder}/plain_acl.yml\n`,
    );
    const args = ["standalone", "-c", `${folder}/broker.conf`]
      .concat(["--store", `${folder}/store`, "--namesrv-port", "0"])
      .concat(["--listen-port", "0", "--admin-port", "0"]);
    const first = await start(...args);
    const client = await RawClient.open(first.address("broker"));
    await makeApp(client);
    client.close();
    await first.stop("SIGKILL");
    const server = await start(...args);
    const shown = [
      await strangersAreRefused(server),
      await toolsSign(server),
      await overHttp(server),
      first.stderr,
      server.stderr,
    ].join("\n");
    for (const secret of SECRETS) assert(!shown.includes(secret), shown);
    assert(shown.includes("was refused"), server.stderr);
  });
});

async function strangersAreRefused(server: PocketMQProcess): Promise<string> {
  const remarks: string[] = [];
  const codes = Object.values({ ...RequestCode, ...PocketmqRequestCode });
  for (const name of ["broker", "vip"]) {
    const client = await RawClient.open(server.address(name));
    let refused = 0;
    for (const code of codes) {
      const { code: answer, remark } = await client.invoke(code, {
        b: "Mine",
        topic: "Mine",
        AccessKey: "root",
        Signature: "bm9ib2R5",
      });
      // 3: nobody answers this one at all.
      assert(answer === 16 || answer === 3, `${code}: ${answer} ${remark}`);
      if (answer === 16) refused++;
      remarks.push(remark ?? "");
    }
    assert(refused > 70, `${name}: ${refused}`);
    client.close();
  }
  return remarks.join("\n");
}

async function toolsSign(server: PocketMQProcess): Promise<string> {
  const n = ["-n", server.address("namesrv")];
  const shown: string[] = [];
  const run = async (user: string, part: string, ...args: string[]) => {
    const env = user === "" ? {} : {
      POCKETMQ_ACCESS_KEY: user,
      POCKETMQ_SECRET_KEY: `${user}-secret`,
    };
    const done = await runPocketMQ([...args, ...n], { env });
    const text = done.stdout + done.stderr;
    assert(text.includes(part), `${user} ${args}: ${text}`);
    shown.push(text);
  };
  await run("", "username cannot be null", "topic", "create", "Mine");
  await run("app", "access Topic:Mine", "topic", "create", "Mine");
  await run("root", "Mine", "topic", "create", "Mine");
  await run("root", "", "topic", "create", "Other");
  await run("app", "SEND_OK", "produce", "Mine", "signed");
  await run("app", "Topic:Other", "produce", "Other", "x");
  const consume = ["consume", "Mine", "--from", "first", "--count", "1"];
  await run("app", "signed", ...consume, "--group", "mine");
  await run("veteran", "SEND_OK", "produce", "Mine", "as before");
  await run("veteran", "Topic:Other", "produce", "Other", "x");
  const config = ["config", "get", "--broker", server.address("broker")];
  await run("root", "authenticationEnabled", ...config);
  await run("app", "Cluster:DefaultCluster", ...config);
  return shown.join("\n");
}

/** The broker signs for its own admin port. */
async function overHttp(server: PocketMQProcess): Promise<string> {
  const url = `http://${server.address("admin")}/admin`;
  const headers = { "content-type": "application/json" };
  const config = await (await fetch(`${url}/config`)).text();
  assert(config.includes("innerClientAuthenticationCredentials"), config);
  const made = await fetch(`${url}/topics/Web`, {
    method: "PUT",
    headers,
    body: "{}",
  });
  assert(made.ok, await made.clone().text());
  const off = await fetch(`${url}/config`, {
    method: "PATCH",
    headers,
    body: JSON.stringify({ authenticationEnabled: "false" }),
  });
  assertEquals(off.ok, false);
  return `${config}\n${await off.text()}`;
}

test("a slave has its master's users and policies within moments, and keeps them when the master is gone", async () => {
  await withServers(async (folder, start) => {
    const namesrv = await start(
      ...["namesrv", "--namesrv-port", "0", "--bind", "127.0.0.1"],
      ...["--set", `kvConfigPath=${folder}/kvConfig.json`],
    );
    const broker = (name: string, role: string, id: number) =>
      start(
        ...["broker", "-c", `${folder}/broker.conf`, "--bind", "127.0.0.1"],
        ...["-n", namesrv.address("namesrv"), "--store", `${folder}/${name}`],
        ...["--listen-port", "0", "--admin-port", "0"],
        ...["--set", "brokerName=broker-a", "--set", `brokerRole=${role}`],
        ...["--set", `brokerId=${id}`, "--set", "mappedFileSizeCommitLog=5M"],
      );
    const [master, slave] = await Promise.all([
      broker("master", "ASYNC_MASTER", 0),
      broker("slave", "SLAVE", 1),
    ]);
    const [atMaster, atSlave] = await Promise.all(
      [master, slave].map((it) => RawClient.open(it.address("broker"))),
    );
    await makeApp(atMaster!);
    const may = async (code: number, fields: Record<string, string>) =>
      (await signed(atSlave!, "app", code, fields)).code !== 16;
    const pull = { topic: "Mine", consumerGroup: "mine" };
    await eventually(() => may(31, { topic: "Mine", queueId: "0" }), PATIENCE);
    assertEquals(await may(31, { topic: "Other", queueId: "0" }), false);
    assertEquals((await atSlave!.invoke(11, pull)).code, 16);
    const metadata = async () => {
      const answer = await fetch(`http://${slave.address("admin")}/admin/ha`);
      return (await answer.json() as {
        metadata: { auth: { inSync: boolean; error: string | null } };
      }).metadata.auth;
    };
    await eventually(async () => (await metadata()).inSync, PATIENCE);
    // mqadmin -c sends a change to the slave as well: it must not fail there.
    const again = await signed(atSlave!, "root", 3001, { username: "app" }, {
      password: "app-secret",
    });
    assertEquals(again.code, 0, again.remark ?? "");
    // Whoever is shut out at the master is out at the slave.
    await signed(atMaster!, "root", 3003, { username: "app" });
    const out = async () => !await may(31, { topic: "Mine", queueId: "0" });
    await eventually(out, PATIENCE);
    await makeApp(atMaster!);
    await eventually(async () => !await out(), PATIENCE);
    atMaster!.close();
    await master.stop("SIGKILL");
    assertEquals(await may(31, { topic: "Mine", queueId: "0" }), true);
    atSlave!.close();
  });
});
