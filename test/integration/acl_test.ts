/** Access control of a running broker: every port, our tools, and a pair. */
import { assert, assertEquals } from "@std/assert";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { PocketmqRequestCode } from "../../src/protocol/pocketmq_request_code.ts";
import { createRequest } from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { signRequest } from "../../src/protocol/request_signature.ts";
import { eventually } from "../support/eventually.ts";
import { PocketMQProcess, runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const SECRETS = ["admin-secret", "client-secret"];
const ACL = `
accounts:
  - accessKey: admin-key
    secretKey: ${SECRETS[0]}
    admin: true
  - accessKey: client-key
    secretKey: ${SECRETS[1]}
    topicPerms: [Mine=PUB|SUB]
    groupPerms: [mine=SUB]
`;

/** Starts brokers that end with the test, whatever happens. */
async function withServers(
  run: (
    folder: string,
    start: (...args: string[]) => Promise<PocketMQProcess>,
  ) => Promise<void>,
): Promise<void> {
  await withTempDirectory(async (folder) => {
    const started: PocketMQProcess[] = [];
    writeFileSync(`${folder}/plain_acl.yml`, ACL);
    writeFileSync(
      `${folder}/broker.conf`,
      `aclEnable=true\nplainAclFile=${folder}/plain_acl.yml\naccessKey=admin-key\nsecretKey=admin-secret\n`,
    );
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

/** Several processes start at once here. */
const PATIENCE = { timeoutMs: 30_000 };
const ANY_PORTS = ["--listen-port", "0", "--admin-port", "0"];

test("with aclEnable every port asks who comes, and nothing shows a secret", async () => {
  await withServers(async (folder, start) => {
    const server = await start(
      "standalone",
      "-c",
      `${folder}/broker.conf`,
      "--store",
      `${folder}/store`,
      "--namesrv-port",
      "0",
      ...ANY_PORTS,
    );
    const shown = [
      await strangersAreRefused(server),
      await toolsSign(folder, server),
      await changesOverHttp(folder, server),
      server.stderr,
    ].join("\n");
    for (const secret of SECRETS) assert(!shown.includes(secret), shown);
    assert(shown.includes("was refused"), server.stderr);
    await reloads(folder, server);
  });
});

/** Of sends, pulls, administration and our own codes: the VIP port obeys too. */
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
        AccessKey: "admin-key",
        Signature: "bm9ib2R5",
      });
      // 3: nobody answers this one at all.
      assert(answer === 16 || answer === 3, `${code}: ${answer} ${remark}`);
      if (answer === 16) refused++;
      remarks.push(remark ?? "");
    }
    assert(refused > 60, `${name}: ${refused}`);
    client.close();
  }
  return remarks.join("\n");
}

async function toolsSign(
  folder: string,
  server: PocketMQProcess,
): Promise<string> {
  const n = ["-n", server.address("namesrv")];
  writeFileSync(
    `${folder}/tools.yml`,
    `accessKey: admin-key\nsecretKey: ${SECRETS[0]}\n`,
  );
  const admin = ["--credentials", `${folder}/tools.yml`];
  const env = {
    POCKETMQ_ACCESS_KEY: "client-key",
    POCKETMQ_SECRET_KEY: SECRETS[1]!,
  };
  const shown: string[] = [];
  const run = async (
    expected: number,
    part: string,
    args: string[],
    options: { env?: Record<string, string> } = {},
  ) => {
    const done = await runPocketMQ([...args, ...n], options);
    assertEquals(done.code, expected, `${args}: ${done.stderr}${done.stdout}`);
    const text = done.stdout + done.stderr;
    assert(text.includes(part), `${args}: ${text}`);
    shown.push(text);
  };
  const make = ["topic", "create"];
  await run(1, "No accessKey is configured", [...make, "Mine"]);
  await run(1, "Need admin permission", [...make, "Mine"], { env });
  await run(0, "Mine", [...make, "Mine", ...admin]);
  await run(0, "", [...make, "Other", ...admin]);
  await run(1, "No accessKey is configured", ["produce", "Mine", "x"]);
  await run(0, "SEND_OK", ["produce", "Mine", "signed"], { env });
  await run(1, "topic:Other", ["produce", "Other", "x"], { env });
  const consume = ["consume", "Mine", "--from", "first", "--count", "1"];
  await run(0, "signed", [...consume, "--group", "mine"], { env });
  await run(0, "aclEnable", [
    "config",
    "get",
    "--broker",
    server.address("broker"),
    ...admin,
  ]);
  await run(2, "set POCKETMQ_SECRET_KEY too", ["produce", "Mine", "x"], {
    env: { POCKETMQ_ACCESS_KEY: "client-key" },
  });
  return shown.join("\n");
}

async function changesOverHttp(
  _folder: string,
  server: PocketMQProcess,
): Promise<string> {
  const url = `http://${server.address("admin")}/admin`;
  const config = await (await fetch(`${url}/config`)).text();
  assert(config.includes("aclEnable"), config);
  const made = await fetch(`${url}/topics/Web`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  assert(made.ok, await made.clone().text());
  const off = await fetch(`${url}/config`, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ aclEnable: "false" }),
  });
  assertEquals(off.ok, false);
  return `${config}\n${await off.text()}`;
}

/** The file is looked at each second. */
async function reloads(folder: string, server: PocketMQProcess): Promise<void> {
  writeFileSync(
    `${folder}/plain_acl.yml`,
    `${ACL}\nglobalWhiteRemoteAddresses: [127.0.0.1]\n`,
  );
  const client = await RawClient.open(server.address("broker"));
  await eventually(async () => (await client.invoke(26)).code === 0, PATIENCE);
  client.close();
}

test("a slave with an account follows a master with access control, and one without says why it cannot", async () => {
  await withServers(async (folder, start) => {
    const namesrv = await start(
      "namesrv",
      "--namesrv-port",
      "0",
      "--bind",
      "127.0.0.1",
      "--set",
      `kvConfigPath=${folder}/kvConfig.json`,
    );
    const common = (name: string) => [
      "broker",
      "-n",
      namesrv.address("namesrv"),
      "--bind",
      "127.0.0.1",
      "--store",
      `${folder}/${name}`,
      "--set",
      "brokerName=broker-a",
      "--set",
      "mappedFileSizeCommitLog=5M",
      ...ANY_PORTS,
    ];
    const conf = ["-c", `${folder}/broker.conf`];
    const role = (id: number) => [
      "--set",
      "brokerRole=SLAVE",
      "--set",
      `brokerId=${id}`,
    ];
    const [master, slave, stranger] = await Promise.all([
      start(...common("master"), ...conf, "--set", "brokerRole=SYNC_MASTER"),
      start(...common("slave"), ...conf, ...role(1)),
      start(...common("stranger"), ...role(2)),
    ]);
    const state = async (of: PocketMQProcess) =>
      await (await fetch(`http://${of.address("admin")}/admin/ha`)).json() as {
        state: string;
        reason: string | null;
        inSyncSlaveNums: number;
      };
    await eventually(
      async () => (await state(master)).inSyncSlaveNums === 1,
      PATIENCE,
    );
    const env = {
      POCKETMQ_ACCESS_KEY: "admin-key",
      POCKETMQ_SECRET_KEY: SECRETS[0]!,
    };
    const n = ["-n", namesrv.address("namesrv")];
    for (
      const make of [["topic", "create", "T"], ["group", "create", "mine"]]
    ) {
      const made = await runPocketMQ([...make, ...n], { env });
      assertEquals(made.code, 0, made.stderr);
    }
    const sent = await runPocketMQ(["produce", "T", "x", "--json", ...n], {
      env,
    });
    assert(sent.stdout.includes("SEND_OK"), sent.stdout + sent.stderr);
    // The slave has the table, and asks who comes as its master does.
    const topics = async () => {
      const answer = await fetch(
        `http://${slave.address("admin")}/admin/topics/T`,
      );
      return answer.ok;
    };
    await eventually(topics, PATIENCE);
    const client = await RawClient.open(slave.address("broker"));
    assertEquals((await client.invoke(21)).code, 16);
    const { queueId } = JSON.parse(sent.stdout);
    await commitsAreHandedOn(client, master, String(queueId));
    client.close();
    await eventually(
      async () =>
        (await state(stranger)).reason?.includes(
          "No accessKey is configured",
        ) ===
          true,
      PATIENCE,
    );
    assertEquals((await state(master)).inSyncSlaveNums, 1);
  });
});

/** The master checks what the client itself may. */
async function commitsAreHandedOn(
  slave: RawClient,
  master: PocketMQProcess,
  queueId: string,
): Promise<void> {
  const admin = { accessKey: "admin-key", secretKey: SECRETS[0]! };
  const signed = (code: number, extFields: Record<string, string>) => {
    const request = createRequest(code, { ...extFields });
    signRequest(request, admin);
    return request.extFields;
  };
  const position = { consumerGroup: "mine", topic: "T", queueId };
  const fields = { ...position, commitOffset: "1" };
  assertEquals((await slave.invoke(15, fields)).code, 16);
  assertEquals((await slave.invoke(15, signed(15, fields))).code, 0);
  const asked = await RawClient.open(master.address("broker"));
  const answer = await asked.invoke(14, signed(14, position));
  assertEquals(answer.extFields["offset"], "1");
  asked.close();
}
