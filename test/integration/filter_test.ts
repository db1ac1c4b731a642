/** SQL92 subscriptions over the wire and from a shell. */
import { assert, assertEquals } from "@std/assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { RemotingCommand } from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { RawClient } from "../support/raw_client.ts";
import { type Site, withSite } from "../support/site.ts";

const SQL = ["--set", "enablePropertyFilter=true"];
const bytesOf = (it: string) => new TextEncoder().encode(it);

/** A subscription as clients put it into bodies. */
function subscriptionOf(subString: string, subVersion: number): object {
  return { topic: "T", subString, subVersion, expressionType: "SQL92" };
}

function heartbeat(
  client: RawClient,
  subString: string,
  subVersion: number,
): Promise<RemotingCommand> {
  const body = {
    clientID: "raw@1",
    consumerDataSet: [{
      groupName: "g",
      consumeType: "CONSUME_PASSIVELY",
      messageModel: "CLUSTERING",
      consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
      subscriptionDataSet: [subscriptionOf(subString, subVersion)],
    }],
    producerDataSet: [],
  };
  return client.invoke(
    RequestCode.HEART_BEAT,
    {},
    bytesOf(JSON.stringify(body)),
  );
}

/** A pull by the subscription of the heartbeats; `sql` takes that of the header. */
function pull(
  client: RawClient,
  queueOffset: number,
  subVersion: number,
  { suspendMs = 0, sql = "" } = {},
): Promise<RemotingCommand> {
  return client.invoke(RequestCode.PULL_MESSAGE, {
    consumerGroup: "g",
    topic: "T",
    queueId: "0",
    queueOffset: String(queueOffset),
    maxMsgNums: "32",
    sysFlag: String((suspendMs > 0 ? 2 : 0) | (sql === "" ? 0 : 4)),
    commitOffset: "0",
    suspendTimeoutMillis: String(suspendMs),
    subscription: sql,
    subVersion: String(subVersion),
    expressionType: "SQL92",
  });
}

function check(client: RawClient, subString: string): Promise<RemotingCommand> {
  const body = {
    clientId: "raw@1",
    group: "g",
    subscriptionData: subscriptionOf(subString, 1),
  };
  return client.invoke(
    RequestCode.CHECK_CLIENT_CONFIG,
    {},
    bytesOf(JSON.stringify(body)),
  );
}

async function withClient(
  site: Site,
  run: (client: RawClient) => Promise<void>,
): Promise<void> {
  const client = await RawClient.open(site.broker);
  try {
    await run(client);
  } finally {
    client.close();
  }
}

const send = (client: RawClient, a: number) =>
  client.send("T", 0, bytesOf(`message ${a}`), `a\u0001${a}\u0002`);

test("SQL92 subscriptions: codes, held pulls, a restart, hostile expressions, and the shell", () =>
  withSite(async (site) => {
    await site.createTopic("T");
    await withClient(site, async (client) => {
      await codesAndHeldPulls(client);
      await hostile(client);
    });
    await site.restart();
    await restarted(site);
    await shell(site);
  }, SQL));

async function codesAndHeldPulls(client: RawClient): Promise<void> {
  assertEquals((await heartbeat(client, "a > 5", 7)).code, 0);
  assertEquals((await pull(client, 0, 8)).code, 25);
  for (let a = 0; a < 10; a++) await send(client, a);
  const found = await pull(client, 0, 7);
  assertEquals([found.code, found.extFields.nextBeginOffset], [0, "10"]);
  const text = new TextDecoder("latin1").decode(found.body);
  assertEquals(
    text.match(/message \d/g),
    [6, 7, 8, 9].map((it) => `message ${it}`),
  );
  const missed = await pull(client, 0, 7, { sql: "a > 10" });
  assertEquals([missed.code, missed.extFields.nextBeginOffset], [20, "10"]);
  // A message that is not wanted leaves the pull where it is.
  let answer: RemotingCommand | undefined;
  const held = pull(client, 10, 7, { suspendMs: 20_000 })
    .then((it) => answer = it);
  await send(client, 3);
  await send(client, 4);
  assertEquals(answer, undefined);
  await send(client, 12);
  await held;
  assertEquals([answer!.code, answer!.extFields.nextBeginOffset], [0, "13"]);
  assertEquals((await heartbeat(client, "a >", 8)).code, 0);
  assertEquals((await pull(client, 0, 8)).code, 27);
  assertEquals((await heartbeat(client, "a > 5", 9)).code, 0);
  assertEquals((await pull(client, 0, 9)).code, 0);
}

/** Each costs its own answer, soon; the connection goes on. */
async function hostile(client: RawClient): Promise<void> {
  const refused = [
    "(".repeat(30_000),
    "NOT ".repeat(8_000) + "a",
    "-".repeat(30_000),
    "+".repeat(30_000) + "1 = 1",
    `${"-(".repeat(5_000)}a${" BETWEEN 1 AND 2)".repeat(1_500)} = 1`,
    `a = '${"x".repeat(100_000)}'`,
    "a = '",
    "/*".repeat(9_000),
    "\u0000",
    "\ud800",
    "'".repeat(20_001),
    "a IN (" + "'x',".repeat(8_000),
    "9".repeat(30_000) + " = a",
    "a = 1e" + "9".repeat(30_000),
  ];
  for (const it of refused) {
    const answer = await check(client, it);
    assertEquals(answer.code, 23, it.slice(0, 40));
    assert(/at position \d+: /.test(answer.remark!), answer.remark!);
    assert(answer.remark!.length < 200, answer.remark!);
    assertEquals((await pull(client, 0, 9, { sql: it })).code, 23);
    assertEquals((await heartbeat(client, it, 9)).code, 0);
  }
  const taken = [
    "a = 1 OR ".repeat(3_000) + "a = 1",
    "--".repeat(10_000) + "\na = 1",
    `a IN (${"'x',".repeat(8_000)}'x')`,
    `a CONTAINS '${"x".repeat(30_000)}'`,
  ];
  for (const it of taken) {
    assertEquals((await check(client, it)).code, 0, it.slice(0, 40));
    const answer = await pull(client, 0, 9, { sql: it });
    assert([0, 20].includes(answer.code), answer.remark ?? "");
  }
  assertEquals((await pull(client, 0, 9)).code, 0);
}

/** The file has the filter, and its group goes on with it. */
async function restarted(site: Site): Promise<void> {
  const file = `${site.storePath}/config/consumerFilter.json`;
  const json = JSON.parse(readFileSync(file, "utf8"));
  const { g } = json.filterDataByTopic.T.groupFilterData;
  assertEquals([g.expression, g.clientVersion], ["a > 5", 9]);
  await withClient(site, async (client) => {
    assertEquals((await heartbeat(client, "a > 5", 9)).code, 0);
    const found = await pull(client, 0, 9);
    assertEquals([found.code, found.extFields.nextBeginOffset], [0, "13"]);
  });
}

async function shell(site: Site): Promise<void> {
  for (const [body, ...properties] of [["red", "c=1"], ["blue", "c=2"]]) {
    const args = properties.flatMap((it) => ["--property", it]);
    const sent = await site.run("produce", "Shell", body!, ...args);
    assertEquals(sent.code, 0, sent.stderr);
  }
  const consume = (group: string, sql: string) =>
    site.run(
      ...["consume", "Shell", "--group", group, "--from", "first"],
      ...["--sql", sql, "--count", "1", "--timeout", "20"],
    );
  const blue = await consume("blue", "c > 1");
  assertEquals([blue.code, blue.stdout], [0, "blue\n"]);
  const wrong = await consume("wrong", "c > 'x'");
  assertEquals([wrong.code, wrong.stdout], [1, ""]);
  assert(/cannot be read at position 5/.test(wrong.stderr), wrong.stderr);
  const cut = await consume("cut", "c = 2 junk");
  assertEquals([cut.code, cut.stdout], [0, "blue\n"]);
  assert(/from position 7 on: junk/.test(cut.stderr), cut.stderr);
}
