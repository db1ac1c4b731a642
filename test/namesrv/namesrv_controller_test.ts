import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { openRuntime } from "#runtime";
import type { Clock } from "../../src/io/clock.ts";
import type { Logger } from "../../src/io/logger.ts";
import { NamesrvController } from "../../src/namesrv/namesrv_controller.ts";
import {
  DEFAULT_NAMESRV_OPTIONS,
  type NamesrvOptions,
} from "../../src/namesrv/namesrv_options.ts";
import { decodeTopicList } from "../../src/protocol/body/topic_list.ts";
import { decodeKVTable } from "../../src/protocol/body/kv_table.ts";
import { decodeClusterInfo } from "../../src/protocol/body/cluster_info.ts";
import { encodeDataVersion } from "../../src/protocol/body/data_version_body.ts";
import { encodeRegisterBrokerBody } from "../../src/protocol/body/register_broker_body.ts";
import { encodeCompressedRegisterBrokerBody } from "../../src/protocol/body/register_broker_body_compressed.ts";
import { decodeTopicRouteData } from "../../src/protocol/body/topic_route_data.ts";
import { encodeRegisterBrokerRequestHeader } from "../../src/protocol/header/register_broker_header.ts";
import {
  createRequest,
  type ExtFields,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { RemotingClient } from "../../src/remoting/remoting_client.ts";
import {
  DEFAULT_REMOTING_CLIENT_OPTIONS,
  DEFAULT_REMOTING_SERVER_OPTIONS,
} from "../../src/remoting/remoting_options.ts";
import { bodyOf, type BrokerSpec, headerOf } from "./support.ts";

const TIMEOUT_MS = 3_000;
const quiet: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => quiet,
};

const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  every(intervalMs, run) {
    const id = setInterval(run, intervalMs);
    return { cancel: () => clearInterval(id) };
  },
  after(delayMs, run) {
    const id = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(id) };
  },
};

/** A running name server and clients of it. */
class Site {
  readonly clients: RemotingClient[] = [];
  readonly ports = { network: openRuntime().network, clock, logger: quiet };
  private constructor(readonly namesrv: NamesrvController) {}

  static async start(options: Partial<NamesrvOptions> = {}): Promise<Site> {
    const namesrv = new NamesrvController(
      {
        network: openRuntime().network,
        clock,
        logger: quiet,
        openJsonFile: () => ({
          read: () => undefined,
          write: () => Promise.resolve(),
        }),
      },
      {
        ...DEFAULT_NAMESRV_OPTIONS,
        bindAddress: "127.0.0.1",
        listenPort: 0,
        ...options,
      },
      DEFAULT_REMOTING_SERVER_OPTIONS,
    );
    await namesrv.start();
    return new Site(namesrv);
  }

  client(): RemotingClient {
    const client = new RemotingClient(
      this.ports,
      DEFAULT_REMOTING_CLIENT_OPTIONS,
    );
    this.clients.push(client);
    return client;
  }

  ask(
    client: RemotingClient,
    code: number,
    fields: ExtFields = {},
    body: Uint8Array = new Uint8Array(0),
  ): Promise<RemotingCommand> {
    return client.invoke(
      `127.0.0.1:${this.namesrv.listener.port}`,
      createRequest(code, fields, body),
      TIMEOUT_MS,
    );
  }

  register(client: RemotingClient, spec: BrokerSpec, compressed = false) {
    const encode = compressed
      ? encodeCompressedRegisterBrokerBody
      : encodeRegisterBrokerBody;
    const header = { ...headerOf(spec), compressed };
    return this.ask(
      client,
      RequestCode.REGISTER_BROKER,
      encodeRegisterBrokerRequestHeader(header),
      encode(bodyOf(spec)),
    );
  }

  async stop(): Promise<void> {
    for (const client of this.clients) await client.close();
    await this.namesrv.stop();
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

const text = (command: RemotingCommand) =>
  new TextDecoder().decode(command.body);

describe("NamesrvController", () => {
  it("serves routes of brokers that registered, until their connection closes", async () => {
    const site = await Site.start();
    const client = site.client();
    const broker = site.client();
    const topic = { topic: "T" };
    const early = await site.ask(client, 105, topic);
    assertEquals([early.code, early.remark], [
      1,
      "name server is not ready: no broker has registered since its start",
    ]);
    assertEquals((await site.register(broker, {})).code, 0);
    const slave = await site.register(broker, { id: 1 }, true);
    assertEquals(slave.extFields.masterAddr, "10.0.0.1:10911");
    const route = await site.ask(client, 105, topic);
    assertEquals(
      [...decodeTopicRouteData(route.body).brokerDatas[0]!.brokerAddrs],
      [[0, "10.0.0.1:10911"], [1, "10.0.0.2:10911"]],
    );
    JSON.parse(text(route));
    const unknown = await site.ask(client, 105, { topic: "no" });
    assertEquals([unknown.code, unknown.remark], [
      17,
      "No topic route info in name server for the topic: no\n" +
      "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.",
    ]);
    await broker.close();
    await until(() => site.namesrv.routeInfoManager.liveBrokerCount === 0);
    const gone = await site.ask(client, 105, topic);
    assertEquals(gone.code, 17);
    assert(gone.remark!.includes("not ready"));
    await site.stop();
  });

  it("keeps a broker that registered again over a second connection", async () => {
    const site = await Site.start();
    const [first, second, client] = [
      site.client(),
      site.client(),
      site.client(),
    ];
    await site.register(first, {});
    await site.register(second, {});
    const { counters } = site.namesrv.remotingServer;
    const closedBefore = counters.connectionsClosed;
    await first.close();
    await until(() => counters.connectionsClosed > closedBefore);
    assertEquals((await site.ask(client, 105, { topic: "T" })).code, 0);
    await site.stop();
  });

  it("answers the other broker codes", async () => {
    const site = await Site.start();
    const client = site.client();
    await site.register(client, {});
    const identity = {
      clusterName: "DefaultCluster",
      brokerName: "broker-a",
      brokerAddr: "10.0.0.1:10911",
      brokerId: "0",
    };
    const version = { stateVersion: 0, timestamp: 1, counter: 1 };
    const same = await site.ask(
      client,
      322,
      identity,
      encodeDataVersion(version),
    );
    assertEquals(same.extFields.changed, "false");
    const other = encodeDataVersion({ ...version, counter: 2 });
    const changed = await site.ask(client, 322, identity, other);
    assertEquals(changed.extFields.changed, "true");
    assertEquals(JSON.parse(text(changed)).counter, 1);
    assertEquals((await site.ask(client, 904, identity)).code, 0);
    const member = await site.ask(client, 901, identity);
    assertEquals(
      text(member),
      '{"brokerMemberGroup":{"brokerAddrs":{"0":"10.0.0.1:10911"},' +
        '"brokerName":"broker-a","cluster":"DefaultCluster"}}',
    );
    const cluster = decodeClusterInfo((await site.ask(client, 106)).body);
    assertEquals([...cluster.clusterAddrTable], [
      ["DefaultCluster", ["broker-a"]],
    ]);
    const broken = await site.ask(client, 103, {
      ...identity,
      bodyCrc32: "5",
    }, new Uint8Array(3));
    assertEquals([broken.code, broken.remark], [1, "crc32 not match"]);
    const nameless = await site.ask(client, 103, { brokerName: "x" });
    assertEquals(nameless.code, 1);
    assertEquals((await site.ask(client, 104, identity)).code, 0);
    assertEquals((await site.ask(client, 105, { topic: "T" })).code, 17);
    await site.stop();
  });

  it("answers the topic codes", async () => {
    const site = await Site.start();
    const client = site.client();
    await site.register(client, {});
    const listOf = async (code: number, fields: ExtFields = {}) =>
      decodeTopicList((await site.ask(client, code, fields)).body);
    const all = ["SELF_TEST_TOPIC", "T", "TBW102"];
    assertEquals([...(await listOf(206)).topicList].sort(), all);
    const ofCluster = await listOf(224, { cluster: "DefaultCluster" });
    assertEquals([...ofCluster.topicList].sort(), all);
    assertEquals(await listOf(304), {
      topicList: ["DefaultCluster", "broker-a"],
      brokerAddr: "10.0.0.1:10911",
    });
    for (const code of [311, 312, 313]) {
      assertEquals((await listOf(code)).topicList, []);
    }
    const name = { brokerName: "broker-a" };
    const wiped = await site.ask(client, 205, name);
    assertEquals(wiped.extFields.wipeTopicCount, "3");
    const added = await site.ask(client, 327, name);
    assertEquals(added.extFields.addTopicCount, "3");
    const { body } = await site.ask(client, 105, { topic: "T" });
    assertEquals((await site.ask(client, 217, { topic: "X" }, body)).code, 0);
    assertEquals((await site.ask(client, 105, { topic: "X" })).code, 0);
    assertEquals((await site.ask(client, 216, { topic: "X" })).code, 0);
    assertEquals((await site.ask(client, 105, { topic: "X" })).code, 17);
    assertEquals((await site.ask(client, 1005)).code, 3);
    await site.stop();
  });

  it("answers the configuration codes", async () => {
    const site = await Site.start({ orderMessageEnable: true });
    const client = site.client();
    const entry = { namespace: "ORDER_TOPIC_CONFIG", key: "T" };
    assertEquals((await site.ask(client, 101, entry)).code, 22);
    const put = { ...entry, value: "broker-a:4" };
    assertEquals((await site.ask(client, 100, put)).code, 0);
    const got = await site.ask(client, 101, entry);
    assertEquals(got.extFields.value, "broker-a:4");
    const registered = await site.register(client, {});
    assertEquals([...decodeKVTable(registered.body)], [["T", "broker-a:4"]]);
    const route = await site.ask(client, 105, { topic: "T" });
    assertEquals(
      decodeTopicRouteData(route.body).orderTopicConf,
      "broker-a:4",
    );
    const list = await site.ask(client, 219, entry);
    assertEquals([...decodeKVTable(list.body)], [["T", "broker-a:4"]]);
    assertEquals((await site.ask(client, 102, entry)).code, 0);
    assertEquals((await site.ask(client, 219, entry)).code, 22);
    const shown = text(await site.ask(client, 319));
    assert(shown.includes("orderMessageEnable=true\n"));
    const { port } = site.namesrv.listener;
    assert(shown.includes(`listenPort=${port}\n`), shown);
    const update = (it: string) =>
      site.ask(client, 318, {}, new TextEncoder().encode(it));
    assertEquals((await update("enableAllTopicList=false\n")).code, 0);
    assertEquals((await site.ask(client, 206)).code, 1);
    assertEquals((await update("kvConfigPath=/etc/passwd\n")).code, 16);
    await site.stop();
  });
});
