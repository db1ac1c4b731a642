import { assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { MQClientError } from "../../src/client/mq_client_error.ts";
import { NamesrvClient } from "../../src/client/namesrv_client.ts";
import { encodeClusterInfo } from "../../src/protocol/body/cluster_info.ts";
import { encodeTopicRouteData } from "../../src/protocol/body/topic_route_data.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import {
  RemotingConnectError,
  RemotingTimeoutError,
} from "../../src/remoting/remoting_errors.ts";
import { SimClock } from "../sim/sim_clock.ts";

/** `silent` answers nothing, a number after so many milliseconds. */
type Answer = (() => RemotingCommand) | "silent" | number;

/** Name servers that answer as told, and the order in which they were asked. */
function rig(...names: string[]) {
  const clock = new SimClock();
  const asked: string[] = [];
  const answers = new Map<string, Answer>();
  const client = new NamesrvClient(
    {
      invoke(address, { code }, timeoutMs) {
        asked.push(address);
        const answer = answers.get(address);
        if (typeof answer === "function") return Promise.resolve(answer());
        if (answer === undefined) {
          return Promise.reject(new RemotingConnectError(address, "refused"));
        }
        const answerMs = answer === "silent" ? Infinity : answer;
        return new Promise((resolve, reject) =>
          answerMs < timeoutMs
            ? clock.after(answerMs, () => resolve(unknown()))
            : clock.after(
              timeoutMs,
              () => reject(new RemotingTimeoutError(address, code, timeoutMs)),
            )
        );
      },
    },
    clock,
    { namesrvAddrs: names, timeoutMs: 3_000, routeAgeMaxMs: 30_000 },
  );
  return { clock, asked, answers, client };
}

const routeTo = (brokerName: string) => () =>
  createResponse(
    0,
    null,
    {},
    encodeTopicRouteData({
      orderTopicConf: null,
      queueDatas: [],
      brokerDatas: [{
        cluster: "c",
        brokerName,
        brokerAddrs: new Map([[0, "10.0.0.1:1"]]),
        enableActingMaster: false,
        zoneName: null,
      }],
      filterServerTable: new Map(),
    }),
  );
const unknown = () => createResponse(17, "No topic route");
const notReady = () => createResponse(1, "name server is not ready");

async function brokerOf(client: NamesrvClient): Promise<string | undefined> {
  return (await client.route("T"))?.brokerDatas[0]?.brokerName;
}

test("NamesrvClient stays with the server that answers", async () => {
  const { asked, answers, client } = rig("a", "b");
  answers.set("b", routeTo("x"));
  assertEquals(await brokerOf(client), "x");
  await client.refreshRoute("T");
  assertEquals(asked, ["a", "b", "b"]);
  answers.delete("b");
  answers.set("a", routeTo("y"));
  assertEquals(
    (await client.refreshRoute("T"))?.brokerDatas[0]?.brokerName,
    "y",
  );
  assertEquals(asked.slice(3), ["b", "a"]);
});

test("NamesrvClient leaves a silent server after a second, and waits on only where no other answers", async () => {
  const { asked, answers, client, clock } = rig("a", "b");
  answers.set("a", "silent").set("b", routeTo("x"));
  let startedMs = clock.monotonicMs();
  assertEquals(await clock.complete(brokerOf(client)), "x");
  assertEquals(clock.monotonicMs() - startedMs, 1_000);
  // The next question goes to the one that answered.
  await clock.complete(client.refreshRoute("U"));
  assertEquals(asked, ["a", "b", "b"]);
  // Both are slow: the one that was asked first has the rest of its time.
  answers.set("a", 1_500).set("b", 1_500);
  asked.length = 0;
  startedMs = clock.monotonicMs();
  assertEquals(await clock.complete(client.refreshRoute("U")), undefined);
  assertEquals(asked, ["b", "a", "b"]);
  assertEquals(clock.monotonicMs() - startedMs, 3_500);
  answers.set("a", "silent").set("b", "silent");
  startedMs = clock.monotonicMs();
  await assertRejects(
    () => clock.complete(client.refreshRoute("U")),
    MQClientError,
    "No name server of a;b answers",
  );
  assertEquals(clock.monotonicMs() - startedMs, 6_000);
  // A single one always has all of its time.
  const alone = rig("a");
  alone.answers.set("a", 2_500);
  await alone.clock.complete(alone.client.refreshRoute("U"));
  assertEquals(alone.asked, ["a"]);
});

test("NamesrvClient leaves a server that is not ready for one that is", async () => {
  const { answers, client } = rig("a", "b");
  answers.set("a", notReady).set("b", routeTo("x"));
  assertEquals(await brokerOf(client), "x");
});

test("NamesrvClient asks again while no server is ready, as long as one request may take", async () => {
  const { asked, answers, client, clock } = rig("a", "b");
  answers.set("a", notReady).set("b", notReady);
  clock.after(1_000, () => answers.set("b", routeTo("x")));
  assertEquals(await clock.complete(brokerOf(client)), "x");
  assertEquals(asked.length, 12);
  const startedMs = clock.monotonicMs();
  answers.set("b", notReady);
  await assertRejects(
    () => clock.complete(client.refreshRoute("U")),
    MQClientError,
    "refused GET_ROUTEINFO_BY_TOPIC with SYSTEM_ERROR (1): name server is not ready",
  );
  assertEquals(clock.monotonicMs() - startedMs, 3_000);
  // Who has a route need not wait.
  asked.length = 0;
  client.expireRoute("T");
  assertEquals(await brokerOf(client), "x");
  assertEquals(asked.length, 2);
});

test("NamesrvClient.clusterInfoWithBrokers() waits for the first broker", async () => {
  const { asked, answers, client, clock } = rig("a");
  const cluster = (name: string | undefined) => () =>
    createResponse(
      0,
      null,
      {},
      encodeClusterInfo({
        brokerAddrTable: new Map(
          name === undefined ? [] : [[name, {
            cluster: "c",
            brokerName: name,
            brokerAddrs: new Map([[0, "10.0.0.1:1"]]),
            enableActingMaster: false,
            zoneName: null,
          }]],
        ),
        clusterAddrTable: new Map(),
      }),
    );
  answers.set("a", cluster(undefined));
  clock.after(1_000, () => answers.set("a", cluster("x")));
  const info = await clock.complete(client.clusterInfoWithBrokers());
  assertEquals([...info.brokerAddrTable.keys()], ["x"]);
  answers.set("a", cluster(undefined));
  asked.length = 0;
  const none = await clock.complete(client.clusterInfoWithBrokers());
  assertEquals([none.brokerAddrTable.size, asked.length], [0, 16]);
  await clock.complete(client.clusterInfo());
  assertEquals(asked.length, 17);
});

test("NamesrvClient.route() serves an old route while it asks for a new one", async () => {
  const { clock, asked, answers, client } = rig("a");
  answers.set("a", routeTo("x"));
  await Promise.all([client.route("T"), client.route("T")]);
  assertEquals(asked.length, 1);
  clock.advance(29_999);
  await client.route("T");
  assertEquals(asked.length, 1);
  clock.advance(1);
  answers.set("a", routeTo("y"));
  assertEquals(await brokerOf(client), "x");
  await clock.run(0);
  assertEquals(await brokerOf(client), "y");
  assertEquals(asked.length, 2);
});

test("NamesrvClient.expireRoute() makes the next route() wait, at most once a second", async () => {
  const { clock, asked, answers, client } = rig("a");
  answers.set("a", routeTo("x"));
  await client.route("T");
  answers.set("a", routeTo("y"));
  client.expireRoute("T");
  assertEquals(await brokerOf(client), "x");
  clock.advance(1_000);
  client.expireRoute("T");
  assertEquals(await brokerOf(client), "y");
  assertEquals(asked.length, 2);
});

test("NamesrvClient keeps a route that a restarted or dead server does not know", async () => {
  const { clock, asked, answers, client } = rig("a");
  assertEquals(await client.route("None").catch(() => "error"), "error");
  answers.set("a", unknown);
  assertEquals(await client.route("T"), undefined);
  answers.set("a", routeTo("x"));
  await client.route("T");
  answers.set("a", unknown);
  clock.advance(2_000);
  client.expireRoute("T");
  assertEquals(await brokerOf(client), "x");
  assertEquals(await client.refreshRoute("T"), undefined);
  answers.delete("a");
  clock.advance(2_000);
  client.expireRoute("T");
  assertEquals(await brokerOf(client), "x");
  const before = asked.length;
  for (let call = 0; call < 10; call++) await client.route("T");
  assertEquals(asked.length, before);
});

test("NamesrvClient never asks a server that was taken off the list", async () => {
  const { asked, answers, client } = rig("old");
  answers.set("old", routeTo("x")).set("new", routeTo("y"));
  await client.route("T");
  client.updateNameServerAddressList(["new"]);
  await client.refreshRoute("T");
  assertEquals(asked, ["old", "new"]);
});

test("NamesrvClient.invokeAllOk() wants every server", async () => {
  const { answers, client } = rig("a", "b");
  answers.set("a", () => createResponse(0)).set("b", () => createResponse(0));
  const request = { ...createResponse(0), code: 100, flag: 0 };
  assertEquals((await client.invokeAllOk(request)).length, 2);
  answers.delete("b");
  await assertRejects(
    () => client.invokeAllOk(request),
    MQClientError,
    "Cannot connect to b: refused",
  );
  await assertRejects(
    () => rig().client.invoke(request),
    MQClientError,
    "No name server address is given",
  );
});
